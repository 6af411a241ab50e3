-- Corrects (or makes) the distortion of a lens, by Brown and Conrady's radial terms: a place at r half diagonals from
-- the centre reads at r (1 + k1 r^2 + k2 r^4), divided by zoom. k1 > 0 corrects cushions, k1 < 0 barrels. Bilinear, on
-- premultiplied encoded values; alpha moves with the colour.
-- Outside the picture nothing is seen.
-- k1, k2: -1…1, neutral 0; zoom: 0.25…4, neutral 1; center: uv of the optical axis.
local places = require "library.places"

return kernel {
  summary = "Straightens what a lens has bent.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    k1 = { 0, min = -1, max = 1, neutral = 0, label = "Second power" },
    k2 = { 0, min = -1, max = 1, neutral = 0, label = "Fourth power" },
    zoom = { 1, min = 0.25, max = 4, neutral = 1, label = "Zoom" },
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
  },
  sample = function(src, pos, p)
    local shape = places.inHeights()
    local away = (uv - p.center) / p.zoom
    local on = away * shape * 2 / length(shape)
    local r2 = dot(on, on)
    return src:sample(p.center + away * (1 + r2 * (p.k1 + r2 * p.k2)), "bilinear", "transparent")
  end,
}
