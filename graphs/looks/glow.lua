-- A soft glow: what is bright spills over its surroundings. Three passes: the lights alone, blurred across, then down and
-- added by a screen blend. Encoded values; alpha is kept.
local function spread(dx, dy)
  return function(src)
    local sum, total = src:at(0, 0), 1
    for i = 1, 4 do
      local weight = exp(-i * i / 6)
      sum = sum + (src:at(4 * i * dx, 4 * i * dy) + src:at(-4 * i * dx, -4 * i * dy)) * weight
      total = total + 2 * weight
    end
    return sum / total
  end
end

return kernel {
  summary = "Lets bright parts glow.",
  params = {
    amount = { 0.6, min = 0, max = 1, neutral = 0, label = "Amount" },
    threshold = { 0.6, min = 0, max = 1, label = "Threshold" },
  },
  passes = {
    { name = "lights", pixel = function(c, p)
      local grey = dot(c.rgb, vec3(0.2126, 0.7152, 0.0722))
      return vec4(c.rgb * smoothstep(p.threshold - 0.1, p.threshold + 0.1, grey), 1)
    end },
    { name = "across", sample = spread(1, 0) },
    { name = "spread", sample = spread(0, 1) },
    { inputs = { "image", "spread" }, pixel = function(c, glow, p)
      return vec4(1 - (1 - c.rgb) * (1 - glow.rgb * p.amount), c.a)
    end },
  },
}
