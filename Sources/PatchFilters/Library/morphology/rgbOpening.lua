-- Erosion, then dilation: the greatest of the least values of each channel in the square of (2 radius + 1)^2 pixels
-- around each pixel.
--
-- Encoded values, straight alpha, which is kept. radius: 1…64 pixels. Exact, at a cost that grows with the logarithm of the
-- radius: the extreme of a longer run is the extreme of two shorter ones that overlap.
local windows = require "library.windows"

return kernel {
  summary = "Removes light specks in each channel: erosion, then dilation.",
  options = { radius = { 1, min = 1, max = 64 } },
  passes = function(options)
    local passes = { { name = "straight", channels = 3, pixel = function(c) return c end }, }
    windows.square(passes, min, options.radius, 3)
    windows.square(passes, max, options.radius, 3)
    local last = passes[#passes].name
    passes[#passes + 1] = { inputs = { last, "image" }, pixel = function(c, image) return vec4(c.rgb, image.a) end }
    return passes
  end,
}
