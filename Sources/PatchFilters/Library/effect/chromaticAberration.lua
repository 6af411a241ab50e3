-- The colour fringes of a lens: red is read nearer to the centre, blue farther out: at center + away * (1 -/+ amount),
-- green where it is. Bilinear on premultiplied encoded values. Alpha is kept.
-- amount: -0.1…0.1, neutral 0; center: uv.
return kernel {
  summary = "Splits the colours towards the corners.",
  alpha = "premultiplied",
  params = {
    amount = { 0.01, min = -0.1, max = 0.1, neutral = 0, label = "Amount" },
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
  },
  sample = function(src, pos, p)
    local here, away = src:at(0, 0), uv - p.center
    local red = src:sample(p.center + away * (1 - p.amount)).r
    local blue = src:sample(p.center + away * (1 + p.amount)).b
    return vec4(red, here.g, blue, here.a)
  end,
}
