-- Pin light: B = min(b, 2s) where s <= 1/2, else max(b, 2s - 1).
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Replaces what is lighter or darker than the overlay.", function(b, s)
  return select(le(s, 0.5), min(b, 2 * s), max(b, 2 * s - 1))
end))
