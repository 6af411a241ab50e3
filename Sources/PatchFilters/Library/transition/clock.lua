-- A hand turns clockwise from twelve and uncovers `to`. Premultiplied encoded colour, alpha alike.
-- progress: 0…1, neutral 0; center: uv; start: -360…360 degrees from twelve; softness: 0…1 of a turn; counter: turns the
-- other way.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Uncovers the other picture like the hand of a clock.",
  space = "any",
  params = {
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
    start = { 0, min = -360, max = 360, unit = "°", label = "Start" },
    softness = { 0.02, min = 0, max = 1, label = "Softness" },
    counter = { false, label = "Counter-clockwise" },
  },
  pixel = function(from, to, p)
    local away = (uv - p.center) * size
    local turns = fract(atan(away.x, -away.y) / 6.2831853 - p.start / 360)
    return mix(from, to, transition.reached(select(p.counter, 1 - turns, turns), p.progress, p.softness))
  end,
})
