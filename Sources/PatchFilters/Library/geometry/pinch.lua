-- Pinches (or for negative scales spreads) the picture, as GPUImage's: within `radius`, at distance r from the centre,
-- it reads at r * (1 + scale * (1/2 - r) * 2). Distances are in widths of the picture, as GPUImage's. Bilinear, on
-- premultiplied encoded values; alpha moves with the colour.
-- GPUImage's formula counts from 1/2 whatever the radius is: beyond half a width it works the other way, and at the radius
-- there is a jump. For a smooth one take filter.bulge with a negative scale.
-- radius: 0…2 widths; scale: -2…2, neutral 0; center: uv.
local places = require "library.places"

return kernel {
  summary = "Pinches the picture around a place.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
    radius = { 1, min = 0, max = 2, unit = "widths", label = "Radius" },
    scale = { 0.5, min = -2, max = 2, neutral = 0, label = "Strength" },
  },
  sample = function(src, pos, p)
    return places.radial(src, p, function(r)
      return select(lt(r, p.radius), 1 + (0.5 - r) / 0.5 * p.scale, 1)
    end)
  end,
}
