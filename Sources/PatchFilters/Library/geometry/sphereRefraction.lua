-- A glass sphere that shows the picture upside down, as GPUImage's sphere refraction.
-- A ray from the viewer meets the sphere's front, bends by Snell's law, and the direction it goes on in, from -1…1, is the
-- place in the picture. Outside the sphere nothing is seen.
-- Distances are in widths of the picture, as GPUImage's. Bilinear, on premultiplied encoded values; alpha moves with
-- the colour.
-- radius: 0.001…2 widths; index: 0.05…1, air's refractive index over the sphere's; center: uv.
local places = require "library.places"

return kernel {
  summary = "Shows the picture through a sphere, upside down.",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
    radius = { 0.25, min = 0.001, max = 2, unit = "widths", label = "Radius" },
    index = { 0.71, min = 0.05, max = 1, label = "Refractive index" },
  },
  sample = function(src, pos, p)
    local away, r2, z, root = places.glass(p)
    local bent = away * (p.index * z - root)
    return select(le(r2, 1), src:sample((bent + 1) * 0.5), vec4(0))
  end,
}
