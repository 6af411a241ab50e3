-- Black dots on white like a newspaper's, as GPUImage's: in each square of `side` a disc whose diameter is 1 - Y of
-- the side, Y (.2125 .7154 .0721) of the colour at its centre. Encoded values. Alpha is kept.
-- side: 0.001…0.5 of the picture's width. No neutral value.
local hsl = require "library.hsl"
local cells = require "library.cells"

return kernel {
  summary = "Prints the picture in black dots.",
  params = { side = { 0.01, min = 0.001, max = 0.5, unit = "widths", label = "Side" } },
  sample = function(src, pos, p)
    local y = clamp(hsl.luminance(src:sample(cells.center(p.side)).rgb), 0, 1)
    local ink = step(cells.away(p.side), p.side * 0.5 * (1 - y))
    return vec4(vec3(1 - ink), src:at(0, 0).a)
  end,
}
