-- Rings cut into pieces of one colour, as GPUImage's: radius and angle around the centre are rounded down to steps, and the
-- radius gets 0.03 more (GPUImage's own constant, kept). Radii in half sides of the picture, so rings are ellipses.
-- Bilinear on premultiplied encoded values; alpha like the colour.
-- radius: step, 0.001…1 half sides; angle: step, 0.001…3.2 radians; center: uv. No neutral value.
return kernel {
  summary = "Turns the picture into pieces of rings.",
  alpha = "premultiplied",
  space = "any",
  keepsAlpha = false,
  params = {
    radius = { 0.05, min = 0.001, max = 1, label = "Step of the radius" },
    angle = { 0.05, min = 0.001, max = 3.2, unit = "rad", label = "Step of the angle" },
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
  },
  sample = function(src, pos, p)
    local away = (uv - p.center) * 2
    local r, phi = length(away), atan(away.y, away.x)
    r = r - mod(r, p.radius) + 0.03
    phi = phi - mod(phi, p.angle)
    return src:sample(r * vec2(cos(phi), sin(phi)) / 2 + p.center)
  end,
}
