-- Nine taps on the line to a centre, .05 .09 .12 .15 .18 .15 .12 .09 .05, each a hundredth of the way times `size` apart.
--
-- Encoded values; premultiplied, so that see-through pixels give no colour; alpha is blurred with the colour.
-- size: 0…10; 0 changes nothing. center: 0…1 of the picture, from the upper left.
local weights = { 0.18, 0.15, 0.12, 0.09, 0.05 }

return kernel {
  summary = "Blurs towards a point, like a zooming lens.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    size = { 1, min = 0, max = 10, neutral = 0, label = "Strength" },
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
  },
  sample = function(src, pos, p)
    local step = (p.center - uv) * (p.size / 100)
    local sum = src:at(0, 0) * weights[1]
    for i = 1, 4 do
      sum = sum + (src:sample(uv + step * i) + src:sample(uv - step * i)) * weights[i + 1]
    end
    return sum
  end,
}
