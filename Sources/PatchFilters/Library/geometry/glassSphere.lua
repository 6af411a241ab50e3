-- A glass sphere that shows the picture upright, with light on it, as GPUImage's.
-- A ray from the viewer meets the sphere's front, bends by Snell's law, and the direction it goes on in, from -1…1, is the
-- place in the picture. Here it counts twice and mirrored, so that the picture stands upright. Light:
-- 2.5 (1 - cos^(1/4)) of the angle to the viewer, and a highlight 0.8 cos^15 of the angle to a lamp at (-0.5, -0.5, 1), upper
-- left. Outside the sphere nothing is seen; inside it is opaque, as GPUImage's, on black where the picture is see-through. Distances are in widths of the picture, as GPUImage's.
-- Bilinear, on premultiplied encoded values; alpha moves with the colour. Light is clipped at white.
-- radius: 0.001…2 widths; index: 0.05…1, air's refractive index over the sphere's; center: uv.
local places = require "library.places"

return kernel {
  summary = "Shows the picture through a glass sphere.",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
    radius = { 0.25, min = 0.001, max = 2, unit = "widths", label = "Radius" },
    index = { 0.71, min = 0.05, max = 1, label = "Refractive index" },
  },
  sample = function(src, pos, p)
    local away, r2, z, root = places.glass(p)
    local bent = away * (root - p.index * z) * 2
    local color = src:sample((bent + 1) * 0.5)
    local rim = 2.5 * (1 - pow(z, 0.25))
    local shine = pow(clamp(dot(vec3(away, z), vec3(-0.5, -0.5, 1)) / sqrt(1.5), 0, 1), 15)
    local lit = vec4(clamp(color.rgb + rim + 0.8 * shine, 0, 1), 1)
    return select(le(r2, 1), lit, vec4(0))
  end,
}
