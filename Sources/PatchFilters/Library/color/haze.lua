-- Adds or removes haze, as GPUImage's: (rgb - d * white) / (1 - d) with d = y * slope + distance, y from the top (0) to
-- the bottom (1). Encoded values. Alpha is kept.
-- distance: -0.3…0.3, slope: -0.3…0.3, both neutral 0; below 0 adds haze.
return kernel {
  summary = "Removes or adds haze.",
  params = {
    distance = { 0.2, min = -0.3, max = 0.3, neutral = 0, label = "Distance" },
    slope = { 0, min = -0.3, max = 0.3, neutral = 0, label = "Slope" },
  },
  pixel = function(c, p)
    local depth = uv.y * p.slope + p.distance
    return vec4((c.rgb - depth) / (1 - depth), c.a)
  end,
}
