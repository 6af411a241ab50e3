-- Screen: B = b + s - b s. White stays white, black lets the other through.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Screens: lightens like two projectors on one wall.", function(b, s)
  return b + s - b * s
end))
