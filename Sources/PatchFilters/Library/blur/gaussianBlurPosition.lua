-- Blurs inside a circle and keeps the rest: the Gaussian of sigma where the distance to the centre is below radius, as hard as in
-- GPUImage with softness 0, else faded over `softness`.
--
-- Distances in parts of the picture's width. Encoded values; premultiplied; alpha is blurred with the colour. sigma: 0…50 pixels;
-- 0 changes nothing. radius: 0…2; softness: 0…1. center: 0…1 of the picture, from the upper left.
local places = require "library.places"

return kernel {
  summary = "Blurs inside a circle.",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    sigma = { 3, min = 0, max = 50, neutral = 0, label = "Blur", unit = "px" },
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
    radius = { 0.25, min = 0, max = 2, label = "Radius" },
    softness = { 0, min = 0, max = 1, label = "Softness" },
  },
  passes = {
    { name = "blurred", native = "gaussian", params = { sigma = "sigma" } },
    { space = "any", inputs = { "image", "blurred" }, pixel = function(image, blurred, p)
      local outer = p.radius + max(p.softness, 0.0001)
      return mix(blurred, image, smoothstep(p.radius, outer, places.distance(p.center)))
    end },
  },
}
