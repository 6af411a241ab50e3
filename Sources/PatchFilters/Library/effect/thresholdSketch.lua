-- Ink lines: black where Sobel's edge strength of the luminance (.2125 .7154 .0721) reaches the threshold, else white, as
-- GPUImage's. Encoded values. Alpha is kept.
-- strength: 0…8, multiplies the edges; threshold: 0.001…4. No neutral value.
local hsl = require "library.hsl"
local edges = require "library.edges"

return kernel {
  summary = "Draws the picture in ink.",
  params = {
    strength = { 1, min = 0, max = 8, label = "Strength" },
    threshold = { 0.25, min = 0.001, max = 4, label = "Threshold" },
  },
  sample = function(src, pos, p)
    local edge = edges.sobel(src, function(c) return hsl.luminance(c.rgb) end) * p.strength
    return vec4(vec3(1 - step(p.threshold, edge)), src:at(0, 0).a)
  end,
}
