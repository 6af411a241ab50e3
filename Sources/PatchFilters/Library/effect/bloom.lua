-- Bright parts glow: what is above the threshold (the colour times smoothstep(threshold, threshold + knee, largest channel)),
-- blurred by a Gaussian, is screened over the picture: 1 - (1 - c)(1 - glow * intensity). Beyond the picture its edge goes on.
-- Encoded values; alpha is kept.
-- intensity: 0…2, neutral 0; threshold: 0…1; knee: 0…1; radius: 0…0.1 of the picture's height (sigma of the glow).
return kernel {
  summary = "Lets the bright parts glow.",
  params = {
    intensity = { 0.6, min = 0, max = 2, neutral = 0, label = "Intensity" },
    threshold = { 0.6, min = 0, max = 1, label = "Threshold" },
    knee = { 0.2, min = 0, max = 1, label = "Knee" },
    radius = { 0.02, min = 0, max = 0.1, unit = "heights", label = "Radius" },
  },
  passes = {
    { name = "bright", channels = 3, pixel = function(c, p)
      local most = max(c.r, max(c.g, c.b))
      local share = smoothstep(p.threshold, p.threshold + max(p.knee, 0.0001), most)
      return vec4(clamp(c.rgb, 0, 1) * share * c.a, 1)
    end },
    { name = "glow", native = "gaussian", inputs = { "bright" }, params = { heights = "radius" } },
    { inputs = { "image", "glow" }, pixel = function(c, glow, p)
      local light = clamp(glow.rgb * p.intensity, 0, 1)
      return vec4(c.rgb + light * (1 - clamp(c.rgb, 0, 1)), c.a)
    end },
  },
}
