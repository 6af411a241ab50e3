-- Blurs surfaces and leaves edges: the mean of the surroundings in which each pixel counts max(0, 1 - |difference| / (2.5 threshold)),
-- channel by channel, as image editors' surface blur weighs them.
--
-- The square of (2 radius + 1)^2 pixels is read in two passes of 5x5 pixels, first radius / 2 apart, then radius / 10, so that the
-- cost does not grow with the radius. Encoded values, straight alpha, which is kept. radius: 2…60 pixels. threshold: 0.01…1.
local function pass(spacing)
  return function(src, _, p)
    local centre = src:at(0, 0).rgb
    local sum, total = centre, vec3(1)
    local slope = 1 / (2.5 * p.threshold)
    for y = -2, 2 do
      for x = -2, 2 do
        if x ~= 0 or y ~= 0 then
          local tap = src:at(x * spacing, y * spacing).rgb
          local weight = max(1 - abs(tap - centre) * slope, 0)
          sum, total = sum + tap * weight, total + weight
        end
      end
    end
    return vec4(sum / total, 1)
  end
end

return kernel {
  summary = "Smooths surfaces and keeps edges, at any radius.",
  params = { threshold = { 0.1, min = 0.01, max = 1, label = "Threshold" } },
  options = { radius = { 10, min = 2, max = 60 } },
  passes = function(options)
    local far = math.max(1, options.radius // 2)
    local near = math.max(1, (far + 2) // 5)
    return {
      { name = "straight", channels = 3, pixel = function(c) return c end },
      { name = "far", channels = 3, sample = pass(far) },
      { name = "near", channels = 3, sample = pass(near) },
      { inputs = { "near", "image" }, pixel = function(c, image) return vec4(c.rgb, image.a) end },
    }
  end,
}
