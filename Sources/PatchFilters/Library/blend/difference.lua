-- Difference: B = |b - s|. White inverts, black changes nothing.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Shows how far apart the two are.", function(b, s)
  return abs(b - s)
end))
