-- Squares of one colour, the one at their centre, as GPUImage's. Encoded values; bilinear read on premultiplied
-- colour; alpha like the colour.
-- side: 0.001…1 of the picture's width. There is no neutral value; one pixel is 1/width.
local cells = require "library.cells"

return kernel {
  summary = "Turns the picture into squares.",
  alpha = "premultiplied",
  space = "any",
  keepsAlpha = false,
  params = { side = { 0.05, min = 0.001, max = 1, unit = "widths", label = "Side" } },
  sample = function(src, pos, p) return src:sample(cells.center(p.side)) end,
}
