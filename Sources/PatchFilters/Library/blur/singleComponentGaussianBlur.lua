-- The red channel, blurred with a Gaussian of sigma, as opaque grey: a quarter of gaussianBlur's work, for masks and maps.
--
-- Encoded values; the red channel of straight colour; alpha becomes 1. sigma: 0…200 pixels.
return kernel {
  summary = "Blurs the red channel alone and shows it as grey.",
  keepsAlpha = false,
  params = { sigma = { 2, min = 0, max = 200, label = "Blur", unit = "px" } },
  passes = {
    { name = "red", channels = 1, pixel = function(c) return c end },
    { native = "gaussian", params = { sigma = "sigma" } },
  },
}
