-- Both pictures turn into growing squares, cross-fade in the middle, and turn back. Squares are up to `square` of the
-- picture's height wide, in the shape of a sine over the way; each shows the colour at its centre. Premultiplied
-- encoded colour, alpha alike.
-- progress: 0…1, neutral 0; square: 0.002…0.5 heights.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Dissolves into squares and back into the other picture.",
  space = "any",
  params = { square = { 0.1, min = 0.002, max = 0.5, unit = "heights", label = "Largest square" } },
  sample = function(from, to, pos, p)
    local side = max(p.square * sin(3.14159265 * p.progress) * size.y, 1)
    local cell = (floor((pos - size / 2) / side) + 0.5) * side + size / 2
    local place = select(le(side, 1), uv, cell / size)
    return mix(from:sample(place), to:sample(place), smoothstep(0.3, 0.7, p.progress))
  end,
})
