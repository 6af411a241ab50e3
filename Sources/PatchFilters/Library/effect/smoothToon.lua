-- filter.toon after a Gaussian blur, as GPUImage's, which takes away noise and small edges. The blur: sigma in pixels, nine
-- taps each way (radius 4), premultiplied encoded values. Alpha is blurred with the colour.
-- sigma: 0.1…2 pixels; threshold: 0.001…4; levels: 1…64; byLuminance: as filter.toon. No neutral
-- value.
local hsl = require "library.hsl"
local edges = require "library.edges"

local function blur(dx, dy)
  return function(src, pos, p)
    local sum, total
    for i = -4, 4 do
      local weight = exp(-(i * i) / (2 * p.sigma * p.sigma))
      local part = src:at(i * dx, i * dy) * weight
      sum, total = sum and sum + part or part, total and total + weight or weight
    end
    return sum / total
  end
end

return kernel {
  summary = "Turns the picture into a cartoon with calm areas.",
  keepsAlpha = false,
  params = {
    sigma = { 2, min = 0.1, max = 2, unit = "px", label = "Blur" },
    threshold = { 0.2, min = 0.001, max = 4, label = "Line threshold" },
    levels = { 10, min = 1, max = 64, label = "Levels" },
    byLuminance = { false, label = "Lines by luminance" },
  },
  passes = {
    { alpha = "premultiplied", sample = blur(1, 0) },
    { alpha = "premultiplied", sample = blur(0, 1) },
    { sample = function(src, pos, p)
      local edge = edges.sobel(src, function(c) return select(p.byLuminance, hsl.luminance(c.rgb), c.r) end)
      local c = src:at(0, 0)
      local flat = floor(c.rgb * p.levels + 0.5) / p.levels
      return vec4(flat * (1 - step(p.threshold, edge)), c.a)
    end },
  },
}
