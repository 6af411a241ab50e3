-- Add: B = min(1, b + s). GPUImage's add blend, which is written for premultiplied colour, comes to the same. The same as
-- blend.linearDodge.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Adds the two, up to white.", function(b, s)
  return min(b + s, 1)
end))
