-- Black strokes on white, the darker the more: four sets of diagonals begin at luminance 1, .75, .5 and .3 (.2125 .7154
-- .0721), as GPUImage's. Distances are uv, so strokes are at 45 degrees only in square pictures, as in GPUImage. Encoded
-- values. Alpha is kept.
-- spacing: 0.001…1; width: 0…0.1, of the strokes. No neutral value.
local hsl = require "library.hsl"

return kernel {
  summary = "Draws the picture with diagonal strokes.",
  params = {
    spacing = { 0.03, min = 0.001, max = 1, label = "Spacing" },
    width = { 0.003, min = 0, max = 0.1, label = "Stroke" },
  },
  pixel = function(c, p)
    local y = hsl.luminance(c.rgb)
    local paper = 1
    for i, below in ipairs { 1, 0.75, 0.5, 0.3 } do
      local along = i % 2 == 1 and uv.x + uv.y or uv.x - uv.y
      local shift = i > 2 and p.spacing / 2 or 0
      local stroke = lt(y, below) & le(mod(along - shift, p.spacing), p.width)
      paper = select(stroke, 0, paper)
    end
    return vec4(vec3(paper), c.a)
  end,
}
