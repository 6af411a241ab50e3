-- Smooths and keeps edges, as GPUImage's bilateral: nine taps, `spacing` texels apart, vertical and then horizontal, weighing
-- .05 .09 .12 .15 .18 .15 .12 .09 .05; each off-centre tap counts w * (1 - min(distance of colours * distance, 1)).
--
-- Encoded values, straight alpha, which is kept. distance: 0…20; smaller smooths across stronger edges, 0 is a plain blur.
-- spacing: 1…8 texels of the frame, so that the look depends on the resolution; surfaceBlur and guided do not.
local weights = { 0.05, 0.09, 0.12, 0.15, 0.18, 0.15, 0.12, 0.09, 0.05 }

local function blur(dx, dy)
  return function(src, pos, p)
    local centre = src:at(0, 0).rgb
    local sum, total = centre * weights[5], weights[5]
    for i = -4, 4 do
      if i ~= 0 then
        local tap = src:at(i * dx, i * dy).rgb
        local away = fastSqrt(dot(centre - tap, centre - tap))
        local weight = max(weights[i + 5] - weights[i + 5] * p.distance * away, 0)
        sum, total = sum + tap * weight, total + weight
      end
    end
    return vec4(sum * (1 / total), 1)
  end
end

return kernel {
  summary = "Smooths surfaces and keeps edges, in two directions.",
  params = { distance = { 8, min = 0, max = 20, label = "Edge sensitivity" } },
  options = { spacing = { 4, min = 1, max = 8 } },
  passes = function(p)
    return {
      { name = "straight", channels = 3, pixel = function(c) return c end },
      { name = "vertical", channels = 3, sample = blur(0, p.spacing) },
      { name = "smoothed", channels = 3, sample = blur(p.spacing, 0) },
      { inputs = { "smoothed", "image" }, pixel = function(c, image) return vec4(c.rgb, image.a) end },
    }
  end,
}
