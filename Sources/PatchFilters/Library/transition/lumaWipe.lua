-- A wipe whose order any grey picture gives: where the map is dark `to` shows first. The map's luma is .2126 .7152
-- .0722 of its encoded colour, over black. Premultiplied colour, encoded or, where the graph asks for it, linear; alpha
-- alike.
-- progress: 0…1, neutral 0; softness: 0…1 of the way; invert: light first. A map without full black and white leaves a
-- pause at the beginning and end.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Wipes in the order of a grey picture.",
  inputs = { "from", "to", "map" },
  space = "rgb",
  light = "graph",
  weights = { "map" },
  params = {
    softness = { 0.1, min = 0, max = 1, label = "Softness" },
    invert = { false, label = "Light first" },
  },
  pixel = function(from, to, map, p)
    local when = clamp(dot(map.rgb, vec3(0.2126, 0.7152, 0.0722)), 0, 1)
    return mix(from, to, transition.reached(select(p.invert, 1 - when, when), p.progress, p.softness))
  end,
})
