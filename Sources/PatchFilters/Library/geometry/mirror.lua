-- Mirrors the picture. Any light; alpha moves with the colour. (A source mirrors without cost: camera{ mirror = true }.)
-- horizontal: left becomes right; vertical: top becomes bottom. Neutral: neither.
return kernel {
  summary = "Mirrors the picture.",
  alpha = "premultiplied",
  space = "any",
  keepsAlpha = false,
  params = {
    horizontal = { true, neutral = false, label = "Left and right" },
    vertical = { false, neutral = false, label = "Top and bottom" },
  },
  sample = function(src, pos, p)
    local place = vec2(select(p.horizontal, 1 - uv.x, uv.x), select(p.vertical, 1 - uv.y, uv.y))
    return src:sample(place, "nearest")
  end,
}
