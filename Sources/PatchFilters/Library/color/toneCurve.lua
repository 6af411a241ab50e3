-- A tone curve through five points (x, y), for red, green and blue alike: the natural cubic spline, as GPUImage's composite
-- curve. Encoded values. Alpha is kept.
-- black, dark, middle, light, white: points, x and y 0…1 each, x ascending (two at one x make a step); outside the
-- first and last x the curve is level, and what it reaches beyond 0…1 is clipped. Neutral: the diagonal, for pictures
-- within 0…1.
-- For a curve of its own for each channel: filter.curvesRGB.
local curve = require "library.curve"

return kernel {
  summary = "Bends the tones along a curve through five points.",
  params = {
    black = { { 0, 0 }, min = 0, max = 1, neutral = { 0, 0 }, label = "Black" },
    dark = { { 0.25, 0.25 }, min = 0, max = 1, neutral = { 0.25, 0.25 }, label = "Dark tones" },
    middle = { { 0.5, 0.5 }, min = 0, max = 1, neutral = { 0.5, 0.5 }, label = "Middle tones" },
    light = { { 0.75, 0.75 }, min = 0, max = 1, neutral = { 0.75, 0.75 }, label = "Light tones" },
    white = { { 1, 1 }, min = 0, max = 1, neutral = { 1, 1 }, label = "White" },
  },
  pixel = function(c, p)
    local points = { p.black, p.dark, p.middle, p.light, p.white }
    local x, y = {}, {}
    for i, point in ipairs(points) do x[i], y[i] = point.x, point.y end
    return vec4(clamp(curve.spline(c.rgb, x, y), 0, 1), c.a)
  end,
}
