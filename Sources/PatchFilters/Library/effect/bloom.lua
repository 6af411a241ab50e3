-- Bright parts glow: what is above the threshold (the colour times smoothstep(threshold, threshold + knee, largest channel)),
-- blurred, is screened over the picture: 1 - (1 - c)(1 - glow * intensity). The blur works on a quarter of the size: two rounds
-- across and down of 13 reads weighted by a Gaussian, the second round twice as wide. Encoded values; alpha is kept.
-- intensity: 0…2, neutral 0; threshold: 0…1; knee: 0…1; radius: 0…0.1 of the picture's height (sigma of the glow).
local function blurred(across, share)
  return function(src, pos, p)
    -- Both rounds together have the variance radius^2.
    local spacing = p.radius * share * 0.5 * (across and vec2(size.y / size.x, 0) or vec2(0, 1))
    local sum, total = vec3(0), 0
    for i = -6, 6 do
      local weight = exp(-i * i / 8)
      sum = sum + src:sample(uv + spacing * i).rgb * weight
      total = total + weight
    end
    return vec4(sum / total, 1)
  end
end

return kernel {
  summary = "Lets the bright parts glow.",
  params = {
    intensity = { 0.6, min = 0, max = 2, neutral = 0, label = "Intensity" },
    threshold = { 0.6, min = 0, max = 1, label = "Threshold" },
    knee = { 0.2, min = 0, max = 1, label = "Knee" },
    radius = { 0.02, min = 0, max = 0.1, unit = "heights", label = "Radius" },
  },
  passes = {
    { name = "bright", pixel = function(c, p)
      local most = max(c.r, max(c.g, c.b))
      local share = smoothstep(p.threshold, p.threshold + max(p.knee, 0.0001), most)
      return vec4(clamp(c.rgb, 0, 1) * share * c.a, 1)
    end },
    { name = "small", scale = 1/4, pixel = function(c) return c end },
    { scale = 1/4, sample = blurred(true, 0.4472) },
    { scale = 1/4, sample = blurred(false, 0.4472) },
    { scale = 1/4, sample = blurred(true, 0.8944) },
    { name = "glow", scale = 1/4, sample = blurred(false, 0.8944) },
    { inputs = { "image", "glow" }, pixel = function(c, glow, p)
      local light = clamp(glow.rgb * p.intensity, 0, 1)
      return vec4(c.rgb + light * (1 - clamp(c.rgb, 0, 1)), c.a)
    end },
  },
}
