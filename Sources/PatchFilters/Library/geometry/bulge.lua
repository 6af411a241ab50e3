-- Swells (or for negative scales dents) the picture in a circle, as GPUImage's: at distance r from the centre it reads at
-- r * (1 - scale * (1 - r / radius))^2. Distances are in widths of the picture, as GPUImage's. Bilinear, on
-- premultiplied encoded values; alpha moves with the colour.
-- radius: 0.001…2 widths; scale: -1…1, neutral 0; center: uv.
local places = require "library.places"

return kernel {
  summary = "Swells the picture around a place.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
    radius = { 0.25, min = 0.001, max = 2, unit = "widths", label = "Radius" },
    scale = { 0.5, min = -1, max = 1, neutral = 0, label = "Strength" },
  },
  sample = function(src, pos, p)
    return places.radial(src, p, function(r)
      local share = 1 - max(1 - r / p.radius, 0) * p.scale
      return share * share
    end)
  end,
}
