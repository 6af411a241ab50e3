-- A straight front crosses the picture in a direction and uncovers `to`, with a soft edge. Premultiplied encoded
-- colour, alpha alike.
-- progress: 0…1, neutral 0; angle: -360…360 degrees, 0 goes to the right, 90 down; softness: 0…1 of the way.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Wipes the other picture in along a straight front.",
  space = "any",
  params = {
    angle = { 0, min = -360, max = 360, unit = "°", label = "Direction" },
    softness = { 0.05, min = 0, max = 1, label = "Softness" },
  },
  pixel = function(from, to, p)
    return mix(from, to, transition.reached(transition.along(p.angle), p.progress, p.softness))
  end,
})
