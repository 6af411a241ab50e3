-- Nine taps along a line through the pixel, .05 .09 .12 .15 .18 .15 .12 .09 .05, `size` pixels apart.
--
-- Encoded values; premultiplied, so that see-through pixels give no colour; alpha is blurred with the colour.
-- size: 0…20 pixels; 0 changes nothing. angle: degrees against the clock from the right; it is the same in both directions.
local weights = { 0.18, 0.15, 0.12, 0.09, 0.05 }

return kernel {
  summary = "Blurs along a line, like a moving camera.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    size = { 2.5, min = 0, max = 20, neutral = 0, label = "Step", unit = "px" },
    angle = { 0, min = -180, max = 180, label = "Angle", unit = "°" },
  },
  sample = function(src, pos, p)
    local turn = radians(p.angle)
    local step = vec2(cos(turn), -sin(turn)) * p.size / src.size
    local sum = src:at(0, 0) * weights[1]
    for i = 1, 4 do
      sum = sum + (src:sample(uv + step * i) + src:sample(uv - step * i)) * weights[i + 1]
    end
    return sum
  end,
}
