-- Subtract: B = max(0, b - s). GPUImage's takes premultiplied colours from each other and keeps the picture's alpha; this
-- one blends like all others. For opaque pictures they are the same.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Takes the overlay away from the picture.", function(b, s)
  return max(b - s, 0)
end))
