-- Overlay: hard light with the pictures exchanged: B = 2 b s where b <= 1/2, else 1 - 2 (1 - b)(1 - s).
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Multiplies the dark parts and screens the light parts of the picture.", function(b, s)
  return select(le(b, 0.5), 2 * b * s, 1 - 2 * (1 - b) * (1 - s))
end))
