-- Narrows the range of luminance, as GPUImage's: rgb + (1/2 - Y) * range, Y = .2125 .7154 .0721. Encoded values; not
-- clipped.
-- Alpha is kept.
-- range: 0…1, neutral 0; at 1 every pixel has luminance 1/2.
local hsl = require "library.hsl"

return kernel {
  summary = "Evens out light and dark.",
  params = { range = { 0.6, min = 0, max = 1, neutral = 0, label = "Reduction" } },
  pixel = function(c, p) return vec4(c.rgb + (0.5 - hsl.luminance(c.rgb)) * p.range, c.a) end,
}
