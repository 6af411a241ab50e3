-- A Gaussian blur: each pixel becomes the mean of those around it, weighed by exp(-d^2 / (2 sigma^2)).
--
-- Encoded values; premultiplied, so that see-through pixels give no colour; alpha is blurred with the colour. Beyond the edge the
-- picture goes on with its edge's pixels. sigma: 0…200 pixels; 0 changes nothing. The cost hardly depends on sigma: see
-- docs/decisions/blur.md. Within 2/255 of the exact sum.
return kernel {
  summary = "Blurs softly, by any radius at nearly the same cost.",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = { sigma = { 2, min = 0, max = 200, neutral = 0, label = "Blur", unit = "px" } },
  passes = { { native = "gaussian", params = { sigma = "sigma" } } },
}
