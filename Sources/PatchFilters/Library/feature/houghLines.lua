-- Finds straight lines: Canny's edges vote for all lines through them (Hough; Duda, Hart 1972), in steps of one pixel and one degree;
-- lines with at least threshold * (width + height) / 2 votes that are the greatest of their neighbours are kept, at most 64.
-- As data, `node:onData(function(d) … end)`: d.lines, a list of {x1, y1, x2, y2} in 0…1 from the upper left, strongest first, where
-- the line meets the picture's border, and d.count.
--
-- The picture shows the lines in red over the image; show 0 leaves it as it is. Luma of encoded values, straight alpha, which is
-- kept. threshold: 0.05…1. sigma: 0.5…3 pixels, the blur before the edges are searched.
local steps = require "library.steps"

return kernel {
  summary = "Finds straight lines and draws them.",
  params = {
    threshold = { 0.2, min = 0.05, max = 1, label = "Threshold" },
    sigma = { 2, min = 0.5, max = 3, label = "Blur", unit = "px" },
    show = { 1, min = 0, max = 1, neutral = 0, label = "Show" },
  },
  passes = {
    { name = "luma", channels = 1, floats = true, pixel = steps.luma },
    { name = "down", channels = 1, floats = true, sample = steps.blur(0, 1) },
    { name = "blurred", channels = 1, floats = true, sample = steps.blur(1, 0) },
    { name = "strength", channels = 1, floats = true, sample = steps.strength },
    { name = "thin", inputs = { "strength", "blurred" }, channels = 1, sample = function(strength, blurred)
      return steps.thin(strength, blurred, 0.1, 0.4)
    end },
    { name = "edges", channels = 1, sample = function(thin) return vec4(select(steps.isEdge(thin), 1.0, 0.0)) end },
    { name = "lines", native = "hough", params = { threshold = "threshold" } },
    { inputs = { "lines", "image" }, pixel = function(line, image, p)
      return vec4(mix(image.rgb, vec3(1, 0, 0), line.r * p.show), image.a)
    end },
  },
}
