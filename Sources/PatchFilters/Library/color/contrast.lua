-- Spreads the values around mid-grey: (rgb - 0.5) * contrast + 0.5. Encoded values, as GPUImage's. Alpha is kept.
-- contrast: 0…4, neutral 1; at 0 everything is mid-grey.
return kernel {
  summary = "Spreads or narrows the distance from mid-grey.",
  params = { contrast = { 1, min = 0, max = 4, neutral = 1, label = "Contrast" } },
  pixel = function(c, p) return vec4((c.rgb - 0.5) * p.contrast + 0.5, c.a) end,
}
