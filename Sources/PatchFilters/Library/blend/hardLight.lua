-- Hard light: B = 2 b s where s <= 1/2, else 1 - 2 (1 - b)(1 - s).
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Multiplies or screens, as the overlay says: like a harsh spotlight.", function(b, s)
  return select(le(s, 0.5), 2 * b * s, 1 - 2 * (1 - b) * (1 - s))
end))
