-- The soft light of GPUImage and of old GIMP: B = b (b + 2 s (1 - b)). Smooth, and a little paler than blend.softLight.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("GPUImage's soft light.", function(b, s)
  return b * (b + 2 * s * (1 - b))
end))
