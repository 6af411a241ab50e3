-- Linear light: B = b + 2 s - 1, within 0…1.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Burns or dodges in straight lines, as the overlay says.", function(b, s)
  return clamp(b + 2 * s - 1, 0, 1)
end))
