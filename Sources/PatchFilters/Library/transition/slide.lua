-- `to` slides in over `from`, which stays where it is. Bilinear on premultiplied encoded colour; alpha moves along.
-- progress: 0…1, neutral 0; angle: -360…360 degrees, where it moves to: 0 is to the right, 90 down.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Slides the other picture in over this one.",
  space = "any",
  params = { angle = { 0, min = -360, max = 360, unit = "°", label = "Direction" } },
  sample = function(from, to, pos, p)
    local place = uv + transition.away(p.angle) * (1 - p.progress)
    local inside = all(ge(place, vec2(0))) & all(le(place, vec2(1))) & gt(p.progress, 0)
    return select(inside, to:sample(place), from:at(0, 0))
  end,
})
