-- Hue: B = SetLum(SetSat(s, Sat(b)), Lum(b)), W3C's non-separable modes, weights .30 .59 .11.
-- Encoded straight colour, in W3C's frame (shared/blend.lua): both alphas count, the result's alpha is their union.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"
local hsl = require "library.hsl"
return kernel(blend.mode("The overlay's hue, the picture's saturation and luminosity.", function(b, s)
  return hsl.setLum(hsl.setSat(s, hsl.sat(b)), hsl.lum(b))
end))
