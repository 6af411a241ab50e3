-- Soft light, W3C's: B = b - (1 - 2s) b (1 - b) where s <= 1/2, else b + (2s - 1)(D - b), with D = ((16b - 12) b + 4) b
-- where b <= 1/4, else sqrt(b). GPUImage's formula is another: see blend.softLightClassic.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel(blend.mode("Darkens or lightens, as the overlay says: like a diffuse spotlight.", function(b, s)
  local d = select(le(b, 0.25), ((16 * b - 12) * b + 4) * b, sqrt(b))
  return select(le(s, 0.5), b - (1 - 2 * s) * b * (1 - b), b + (2 * s - 1) * (d - b))
end))
