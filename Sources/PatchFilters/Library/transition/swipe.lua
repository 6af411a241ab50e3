-- `from` is swiped away like a card and uncovers `to`, which lies beneath and comes up out of a shade. Bilinear on
-- premultiplied encoded colour; alpha moves along.
-- progress: 0…1, neutral 0; angle: -360…360 degrees, where the card goes: 0 is to the right, 180 to the left; shade:
-- 0…1, how dark `to` is at first.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Swipes this picture off the other one.",
  params = {
    angle = { 180, min = -360, max = 360, unit = "°", label = "Direction" },
    shade = { 0.5, min = 0, max = 1, label = "Shade" },
  },
  sample = function(from, to, pos, p)
    local place = uv - transition.away(p.angle) * p.progress
    local inside = all(ge(place, vec2(0))) & all(le(place, vec2(1))) & lt(p.progress, 1)
    local below = to:at(0, 0)
    local dark = vec4(below.rgb * (1 - p.shade * (1 - p.progress)), below.a)
    return select(inside, from:sample(place), dark)
  end,
})
