-- Warms or cools the picture: red up and blue down, or the other way round. Encoded values; alpha is kept.
return kernel {
  summary = "Warms or cools the picture.",
  params = { amount = { 0.3, min = -1, max = 1, neutral = 0, label = "Warmth" } },
  pixel = function(c, p) return vec4(c.r * (1 + 0.2 * p.amount), c.g, c.b * (1 - 0.2 * p.amount), c.a) end,
}
