-- Lighten: B = max(b, s), each channel by itself.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Keeps the lighter of the two, channel by channel.", function(b, s)
  return max(b, s)
end))
