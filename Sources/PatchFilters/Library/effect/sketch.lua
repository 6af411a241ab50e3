-- Pencil lines: white minus Sobel's edge strength of the luminance (.2125 .7154 .0721), as GPUImage's. Encoded values,
-- clipped to 0…1. Alpha is kept.
-- strength: 0…8, of the edges; at 0 the paper is white. No neutral value.
local hsl = require "library.hsl"
local edges = require "library.edges"

return kernel {
  summary = "Draws the picture in pencil.",
  params = { strength = { 1, min = 0, max = 8, label = "Strength" } },
  sample = function(src, pos, p)
    local edge = edges.sobel(src, function(c) return hsl.luminance(c.rgb) end) * p.strength
    return vec4(vec3(clamp(1 - edge, 0, 1)), src:at(0, 0).a)
  end,
}
