-- Color: B = SetLum(s, Lum(b)), W3C's non-separable modes, weights .30 .59 .11.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"
local hsl = require "library.hsl"
return kernel(blend.mode("The overlay's hue and saturation, the picture's luminosity.", function(b, s)
  return hsl.setLum(s, hsl.lum(b))
end))
