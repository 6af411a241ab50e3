-- Sharp inside a circle, blurred outside: mix(image, Gaussian of sigma, smoothstep(radius - softness, radius, distance)).
--
-- Distances in parts of the picture's width, as in GPUImage. Encoded values; premultiplied, so that see-through pixels give no
-- colour; alpha is blurred with the colour. sigma: 0…50 pixels; 0 changes nothing. radius: 0…2, softness: 0…1; softness 0 is a
-- hard edge. center: 0…1 of the picture, from the upper left.
local places = require "library.places"

return kernel {
  summary = "Keeps a circle sharp and blurs what is around it.",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    sigma = { 5, min = 0, max = 50, neutral = 0, label = "Blur", unit = "px" },
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
    radius = { 0.1875, min = 0, max = 2, label = "Radius" },
    softness = { 0.09375, min = 0, max = 1, label = "Softness" },
  },
  passes = {
    { name = "blurred", native = "gaussian", params = { sigma = "sigma" } },
    { space = "any", inputs = { "image", "blurred" }, pixel = function(image, blurred, p)
      local inner = min(p.radius - p.softness, p.radius - 0.0001)
      return mix(image, blurred, smoothstep(inner, p.radius, places.distance(p.center)))
    end },
  },
}
