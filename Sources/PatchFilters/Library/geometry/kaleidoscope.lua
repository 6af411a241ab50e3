-- A kaleidoscope: one sector of the picture around the centre, mirrored from side to side all the way round. Bilinear, on
-- premultiplied encoded values; alpha moves with the colour; what lies beyond the picture is its mirror image.
-- segments: 1…32 pairs of mirrored sectors (whole numbers close the circle); angle: -360…360 degrees, where the sector
-- is cut out; spin: -360…360 degrees, turns the result; center: uv.
local places = require "library.places"

return kernel {
  summary = "Mirrors one sector all around, like a kaleidoscope.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    segments = { 6, min = 1, max = 32, label = "Segments" },
    angle = { 0, min = -360, max = 360, unit = "°", label = "Sector" },
    spin = { 0, min = -360, max = 360, unit = "°", label = "Spin" },
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
  },
  sample = function(src, pos, p)
    local shape = places.inHeights()
    local away = (uv - p.center) * shape
    local turns = atan(away.y, away.x) / 6.28318531 - p.spin / 360
    -- 0…1/2 and back within each pair of sectors.
    local fold = abs(fract(turns * p.segments) - 0.5) / p.segments
    local at = (fold + p.angle / 360) * 6.28318531
    return src:sample(p.center + length(away) * vec2(cos(at), sin(at)) / shape, "bilinear", "mirror")
  end,
}
