-- Moves pixels as a map says: the map's red moves across, its green down, 1/2 being no move: it reads at uv + (2 rg -
-- 1) amount, amount in widths and heights. Bilinear, on premultiplied encoded values; alpha moves with the colour;
-- beyond the picture its edge is repeated.
-- amount: -1…1 for each axis, neutral 0.
return kernel {
  summary = "Moves pixels as a second picture says.",
  inputs = { "image", "map" },
  alpha = "premultiplied",
  keepsAlpha = false,
  params = { amount = { { 0.1, 0.1 }, min = -1, max = 1, neutral = { 0, 0 }, label = "Amount" } },
  sample = function(src, map, pos, p)
    local here = map:sample(uv)
    local push = here.rg / max(here.a, 0.0001)
    return src:sample(uv + (2 * push - 1) * p.amount * step(0.0001, here.a))
  end,
}
