-- Vivid light: colour burn with 2s where s <= 1/2, else colour dodge with 2s - 1. At its limits b = 1 stays 1 under burn,
-- b = 0 stays 0 under dodge.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Burns or dodges, as the overlay says.", function(b, s)
  local burnt = select(ge(b, 1), vec3(1), 1 - min(vec3(1), (1 - b) / max(2 * s, 0.00001)))
  local dodged = select(le(b, 0), vec3(0), min(vec3(1), b / max(2 - 2 * s, 0.00001)))
  return select(le(s, 0.5), burnt, dodged)
end))
