-- A cross-fade: (1 - progress) from + progress to, premultiplied encoded colour, alpha alike.
-- progress: 0…1, neutral 0.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Fades from one picture to the other.",
  space = "any",
  pixel = function(from, to, p) return mix(from, to, p.progress) end,
})
