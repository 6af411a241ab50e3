-- Colour dodge: B = 0 where b = 0, else 1 where s = 1, else min(1, b / (1 - s)).
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Lightens the picture to reflect the overlay.", function(b, s)
  local dodged = min(vec3(1), b / max(1 - s, 0.00001))
  return select(le(b, 0), vec3(0), select(ge(s, 1), vec3(1), dodged))
end))
