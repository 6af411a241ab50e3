-- Kuwahara's filter, as GPUImage's: of the four square quadrants of (radius + 1)^2 pixels that meet in the pixel, the mean of the
-- one with the least variance (summed over red, green, blue). Keeps edges, turns the rest into brush strokes. Encoded values.
-- Alpha is kept. The work grows with the square of the radius.
-- radius: 1…8 pixels; amount: 0…1, neutral 0.
local kuwahara = require "library.kuwahara"

return kernel {
  summary = "Paints the picture with brush strokes.",
  params = { amount = { 1, min = 0, max = 1, neutral = 0, label = "Amount" } },
  options = { radius = { 4, min = 1, max = 8, unit = "px", label = "Radius" } },
  sample = function(src, pos, p)
    local c = src:at(0, 0)
    return vec4(mix(c.rgb, kuwahara.smooth(src, p.radius), p.amount), c.a)
  end,
}
