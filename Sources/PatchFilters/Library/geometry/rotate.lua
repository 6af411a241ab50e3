-- Turns the picture about its centre, clockwise. Bilinear, on premultiplied encoded values; alpha moves with the
-- colour. With `fill` it is magnified just so far that no corner stays empty; else the outside is see-through.
-- (Quarter turns of a source cost nothing: camera{ orientation = … }.)
-- angle: -360…360 degrees, neutral 0.
local places = require "library.places"

return kernel {
  summary = "Turns the picture about its centre.",
  space = "any",
  size = "optional",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    angle = { 0, min = -360, max = 360, neutral = 0, unit = "°", label = "Angle" },
    fill = { false, label = "Fill the frame" },
  },
  sample = function(src, pos, p)
    local shape = places.inHeights()
    local s, k = abs(sin(radians(p.angle))), abs(cos(radians(p.angle)))
    -- The turned frame must lie inside the picture: its half sides are (w k + h s, w s + h k) of (w, h).
    local needed = max(k + s / shape.x, k + s * shape.x)
    local magnified = select(p.fill, needed, 1)
    local place = places.turned((uv - 0.5) * shape, -p.angle) / shape / magnified + 0.5
    return src:sample(place, "bilinear", "transparent")
  end,
}
