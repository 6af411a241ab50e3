-- The whole picture in a frame of another size and shape, with bars of a colour: GPUImage's preserve aspect ratio.
-- Bilinear, on premultiplied encoded values; alpha moves with the colour. Four reads a pixel: shrinking to a
-- quarter reads every pixel, below that some are skipped.
-- size = "640x360" must be given. color: of the bars. The input's own shape is the neutral one.
local places = require "library.places"

return kernel {
  summary = "The whole picture in a frame of another shape, with bars.",
  space = "any",
  size = "required",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = { color = { "#000000", label = "Bars" } },
  sample = function(src, pos, p)
    local ratio = size / src.size
    local extent = src.size * min(ratio.x, ratio.y) / size
    local place = (uv - 0.5) / extent + 0.5
    local step = 1 / (size * extent)
    local inside = all(ge(place, vec2(0))) & all(le(place, vec2(1)))
    local picture = places.area(src, place, step)
    return select(inside, picture, vec4(p.color.rgb * p.color.a, p.color.a))
  end,
}
