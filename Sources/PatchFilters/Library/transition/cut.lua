-- A hard cut at a moment: `from` before `at`, `to` from it on. At progress 1 it is `to` whatever `at` is. Any light;
-- alpha is each picture's own.
-- progress: 0…1, neutral 0; at: 0…1.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Cuts from one picture to the other.",
  space = "any",
  params = { at = { 0.5, min = 0, max = 1, label = "Moment" } },
  pixel = function(from, to, p) return select(gt(p.progress, 0) & ge(p.progress, p.at), to, from) end,
})
