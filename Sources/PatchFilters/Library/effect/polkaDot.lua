-- Dots of the colour at their centre on black, as GPUImage's: the picture's squares of `side`, in each a disc of `dot`
-- times that width. Encoded values. Alpha is kept, also between the dots.
-- side: 0.001…1 of the picture's width; dot: 0…1.5 of the side. No neutral value.
local cells = require "library.cells"

return kernel {
  summary = "Draws the picture with coloured dots.",
  params = {
    side = { 0.05, min = 0.001, max = 1, unit = "widths", label = "Side" },
    dot = { 0.9, min = 0, max = 1.5, unit = "sides", label = "Dot" },
  },
  sample = function(src, pos, p)
    local color = src:sample(cells.center(p.side))
    local inside = step(cells.away(p.side), p.side * 0.5 * p.dot)
    return vec4(color.rgb * inside, src:at(0, 0).a)
  end,
}
