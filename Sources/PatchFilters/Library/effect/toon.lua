-- A cartoon, as GPUImage's: each channel rounded to floor(v * levels + 1/2) / levels, black where Sobel's edge
-- strength reaches the threshold. GPUImage looks for edges in red alone, and so does this by default; byLuminance
-- takes .2125 .7154 .0721.
-- Encoded values. Alpha is kept.
-- threshold: 0.001…4; levels: 1…64. No neutral value.
local hsl = require "library.hsl"
local edges = require "library.edges"

return kernel {
  summary = "Turns the picture into a cartoon.",
  params = {
    threshold = { 0.2, min = 0.001, max = 4, label = "Line threshold" },
    levels = { 10, min = 1, max = 64, label = "Levels" },
    byLuminance = { false, label = "Lines by luminance" },
  },
  sample = function(src, pos, p)
    local edge = edges.sobel(src, function(c) return select(p.byLuminance, hsl.luminance(c.rgb), c.r) end)
    local c = src:at(0, 0)
    local flat = floor(c.rgb * p.levels + 0.5) / p.levels
    return vec4(flat * (1 - step(p.threshold, edge)), c.a)
  end,
}
