-- Twists the picture in a circle, as GPUImage's: at distance r from the centre by (1 - r / radius)^2 * angle * 8 radians.
-- Distances are in widths of the picture, as GPUImage's. Bilinear, on premultiplied encoded values; alpha moves with
-- the colour. (GPUImage's swirl alone does not correct the picture's shape and twists in an ellipse; this one twists
-- in a circle.) radius: 0.001…2 widths; angle: -2…2, neutral 0, positive is clockwise; center: uv.
local places = require "library.places"

return kernel {
  summary = "Twists the picture around a place.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
    radius = { 0.5, min = 0.001, max = 2, unit = "widths", label = "Radius" },
    angle = { 1, min = -2, max = 2, neutral = 0, label = "Twist" },
  },
  sample = function(src, pos, p)
    local shape = places.inWidths()
    local away = (uv - p.center) * shape
    local near = max(1 - length(away) / p.radius, 0)
    local turned = places.turned(away, degrees(near * near * p.angle * 8))
    return src:sample(turned / shape + p.center)
  end,
}
