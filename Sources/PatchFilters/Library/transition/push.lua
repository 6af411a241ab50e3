-- `to` pushes `from` out. Bilinear on premultiplied encoded colour; alpha moves along. Slanted pushes leave corners that
-- neither picture covers: there the nearest edge pixel of `from` is seen.
-- progress: 0…1, neutral 0; angle: -360…360 degrees, where it moves to: 0 is to the right, 90 down.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Pushes this picture out with the other one.",
  space = "any",
  params = { angle = { 0, min = -360, max = 360, unit = "°", label = "Direction" } },
  sample = function(from, to, pos, p)
    local step = transition.away(p.angle)
    local place = uv + step * (1 - p.progress)
    local inside = all(ge(place, vec2(0))) & all(le(place, vec2(1))) & gt(p.progress, 0)
    return select(inside, to:sample(place), from:sample(uv - step * p.progress))
  end,
})
