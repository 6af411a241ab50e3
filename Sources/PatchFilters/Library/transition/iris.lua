-- A circle (or a rhombus or a rectangle) opens around a centre and shows `to`. Premultiplied encoded colour, alpha alike.
-- progress: 0…1, neutral 0; center: uv; softness: 0…1 of the way; shape: 0 circle, 1 rhombus, 2 rectangle of the picture's
-- shape (between them the shapes blend); invert: `from` closes to the centre instead.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Opens a circle onto the other picture.",
  space = "any",
  params = {
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
    softness = { 0.05, min = 0, max = 1, label = "Softness" },
    shape = { 0, min = 0, max = 2, label = "Shape" },
    invert = { false, label = "Close instead" },
  },
  pixel = function(from, to, p)
    local scale = size / size.y
    local away = abs(uv - p.center)
    -- The farthest corner is reached last: it is at 1 in every shape.
    local far = max(p.center, 1 - p.center)
    local circle = length(away * scale) / length(far * scale)
    local rhombus = dot(away, scale) / dot(far, scale)
    local rectangle = max(away.x / far.x, away.y / far.y)
    local when = mix(mix(circle, rhombus, clamp(p.shape, 0, 1)), rectangle, clamp(p.shape - 1, 0, 1))
    return mix(from, to, transition.reached(select(p.invert, 1 - when, when), p.progress, p.softness))
  end,
})
