-- Moves, scales, shears, turns and tilts the picture like a card before the viewer. Order: shear, scale, tilt about the
-- horizontal and the vertical axis, turn, move; all about the anchor. The viewer is `distance` heights away: nearer is more
-- perspective. Bilinear, on premultiplied encoded values; alpha moves with the colour. Outside the card nothing is seen.
-- translate: -4…4 widths and heights; scale: 0.01…16 (negative values mirror: filter.mirror); rotation: -360…360 degrees,
-- clockwise; tilt: -180…180 degrees about the horizontal and the vertical axis; shear: -2…2; distance: 0.5…20 heights;
-- anchor: uv. A card seen from its edge vanishes, from behind it is mirrored. Shrinking below half skips pixels.
local places = require "library.places"

return kernel {
  summary = "Moves, scales, turns and tilts the picture.",
  space = "any",
  size = "optional",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    translate = { { 0, 0 }, min = -4, max = 4, neutral = { 0, 0 }, label = "Move" },
    scale = { { 1, 1 }, min = 0.01, max = 16, neutral = { 1, 1 }, label = "Scale" },
    rotation = { 0, min = -360, max = 360, neutral = 0, unit = "°", label = "Turn" },
    tilt = { { 0, 0 }, min = -180, max = 180, neutral = { 0, 0 }, unit = "°", label = "Tilt" },
    shear = { { 0, 0 }, min = -2, max = 2, neutral = { 0, 0 }, label = "Shear" },
    distance = { 2, min = 0.5, max = 20, unit = "heights", label = "Viewer's distance" },
    anchor = { { 0.5, 0.5 }, min = 0, max = 1, label = "Anchor" },
  },
  sample = function(src, pos, p)
    local shape = places.inHeights()
    -- Backwards from the screen to the card: unmove, unturn …
    local at = places.turned((uv - p.anchor - p.translate) * shape, -p.rotation)
    -- … meet the tilted card: screen = d * point / (d - point's z), with the card's axes e1 = (k2, 0, -s2) and
    -- e2 = (s1 s2, k1, s1 k2) after the tilts …
    local s1, k1 = sin(radians(p.tilt.x)), cos(radians(p.tilt.x))
    local s2, k2 = sin(radians(p.tilt.y)), cos(radians(p.tilt.y))
    local d = p.distance
    local a, b = d * k2 - at.x * s2, d * s1 * s2 + at.x * s1 * k2
    local c, e = -at.y * s2, d * k1 + at.y * s1 * k2
    local det = a * e - b * c
    local safe = select(lt(abs(det), 0.000001), 0.000001, det)
    local x, y = (at.x * d * e - b * at.y * d) / safe, (a * at.y * d - at.x * d * c) / safe
    -- … and what lies behind the viewer is not seen.
    local isBefore = gt(d - (s1 * k2 * y - s2 * x), 0.001) & gt(abs(det), 0.000001)
    local scaled = vec2(x, y) / p.scale
    local skew = 1 - p.shear.x * p.shear.y
    local card = vec2(scaled.x - p.shear.x * scaled.y, scaled.y - p.shear.y * scaled.x)
      / select(lt(abs(skew), 0.0001), 0.0001, skew)
    local seen = src:sample(card / shape + p.anchor, "bilinear", "transparent")
    return select(isBefore, seen, vec4(0))
  end,
}
