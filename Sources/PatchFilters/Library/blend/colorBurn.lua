-- Colour burn: B = 1 where b = 1, else 0 where s = 0, else 1 - min(1, (1 - b) / s). GPUImage's divides by 0 there; this is
-- W3C's.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Darkens the picture to reflect the overlay.", function(b, s)
  local burnt = 1 - min(vec3(1), (1 - b) / max(s, 0.00001))
  return select(ge(b, 1), vec3(1), select(le(s, 0), vec3(0), burnt))
end))
