-- Hard mix: B = 1 where b + s >= 1, else 0: eight colours are left.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Posterises the sum of the two to eight colours.", function(b, s)
  return select(ge(b + s, 1), vec3(1), vec3(0))
end))
