-- Divide: B = min(1, b / s); 1 where s = 0 and b > 0, 0 where both are 0.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Divides the picture by the overlay: takes a colour cast out.", function(b, s)
  return select(le(s, 0), select(le(b, 0), vec3(0), vec3(1)), min(b / max(s, 0.00001), 1))
end))
