-- `from` grows towards the viewer and fades, `to` grows from smaller to its size: magnified by 1 + amount * progress and
-- 1 + amount * (progress - 1) * 1/2, about the centre, cross-faded. Bilinear on premultiplied encoded colour; alpha alike.
-- progress: 0…1, neutral 0; amount: 0…1.9; center: uv.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Zooms through this picture into the other one.",
  space = "any",
  params = {
    amount = { 1, min = 0, max = 1.9, label = "Amount" },
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
  },
  sample = function(from, to, pos, p)
    local away = uv - p.center
    local old = from:sample(p.center + away / (1 + p.amount * p.progress))
    local new = to:sample(p.center + away / (1 - 0.5 * p.amount * (1 - p.progress)), "bilinear", "mirror")
    return mix(old, new, smoothstep(0, 1, p.progress))
  end,
})
