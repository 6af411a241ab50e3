-- Stretches the picture away from a centre, on each axis by itself, as GPUImage's: with d the distance on the axis in half
-- sides, it reads at d/2 + smoothstep(1/4, 1/2, d) * d/2. Bilinear, on premultiplied encoded values; alpha moves with
-- the colour.
-- center: uv; amount: 0…1, neutral 0.
return kernel {
  summary = "Stretches the middle of the picture.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
    amount = { 1, min = 0, max = 1, neutral = 0, label = "Amount" },
  },
  sample = function(src, pos, p)
    local away = (uv - p.center) * 2
    local d = abs(away)
    local read = d / 2 + smoothstep(0.25, 0.5, d) * d / 2
    return src:sample(p.center + sign(away) * mix(d, read, p.amount) / 2)
  end,
}
