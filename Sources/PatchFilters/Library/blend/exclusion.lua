-- Exclusion: B = b + s - 2 b s. Difference with less contrast.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Difference with less contrast.", function(b, s)
  return b + s - 2 * b * s
end))
