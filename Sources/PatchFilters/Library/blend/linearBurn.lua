-- Linear burn: B = max(0, b + s - 1).
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Adds the two and takes one away: dark and hard.", function(b, s)
  return max(b + s - 1, 0)
end))
