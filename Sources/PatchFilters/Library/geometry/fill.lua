-- The picture fills a frame of another size and shape, what does not fit is cut off: GPUImage's preserve and fill.
-- Bilinear, on premultiplied encoded values; alpha moves with the colour. Four reads a pixel: shrinking to a
-- quarter reads every pixel, below that some are skipped.
-- size = "640x360" must be given. The input's own shape is the neutral one.
local places = require "library.places"

return kernel {
  summary = "The picture fills a frame of another shape; what does not fit is cut off.",
  space = "any",
  size = "required",
  alpha = "premultiplied",
  space = "any",
  keepsAlpha = false,
  sample = function(src, pos, p)
    local ratio = size / src.size
    local extent = src.size * max(ratio.x, ratio.y) / size
    local place = (uv - 0.5) / extent + 0.5
    local step = 1 / (size * extent)
    return places.area(src, place, step)
  end,
}
