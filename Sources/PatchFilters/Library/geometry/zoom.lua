-- Magnifies around a centre; the view never leaves the picture. Bilinear, on premultiplied encoded values; alpha moves with
-- the colour. Pan and zoom by keyframes: zoom = keyframes{ … }, center = keyframes{ … }.
-- factor: 1…32, neutral 1; center: uv of the picture that comes to the middle, as far as the edges allow.
return kernel {
  summary = "Magnifies a part of the picture.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    factor = { 1, min = 1, max = 32, neutral = 1, label = "Zoom" },
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
  },
  sample = function(src, pos, p)
    local half = 0.5 / max(p.factor, 1)
    local center = clamp(p.center, vec2(half), vec2(1 - half))
    return src:sample(center + (uv - 0.5) / max(p.factor, 1))
  end,
}
