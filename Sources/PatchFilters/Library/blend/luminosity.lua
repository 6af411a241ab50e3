-- Luminosity: B = SetLum(b, Lum(s)), W3C's non-separable modes, weights .30 .59 .11.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"
local hsl = require "library.hsl"
return kernel(blend.mode("The overlay's luminosity, the picture's hue and saturation.", function(b, s)
  return hsl.setLum(b, hsl.lum(s))
end))
