-- Kuwahara's filter with radius 3, as GPUImage's: of the four 4x4 quadrants that meet in the pixel, the mean of the
-- one with the least variance (summed over red, green, blue). Keeps edges, turns the rest into brush strokes. Encoded
-- values. Alpha is kept.
-- amount: 0…1, neutral 0.
local kuwahara = require "library.kuwahara"

return kernel {
  summary = "Paints the picture with small brush strokes.",
  params = { amount = { 1, min = 0, max = 1, neutral = 0, label = "Amount" } },
  sample = function(src, pos, p)
    local c = src:at(0, 0)
    return vec4(mix(c.rgb, kuwahara.smooth(src, 3), p.amount), c.a)
  end,
}
