-- The negative: 1 - rgb on encoded values, as GPUImage's. Alpha is kept.
-- amount: 0…1, neutral 0; at 0.5 everything is mid-grey.
return kernel {
  summary = "Turns the picture into its negative.",
  params = { amount = { 1, min = 0, max = 1, neutral = 0, label = "Amount" } },
  pixel = function(c, p) return vec4(mix(c.rgb, 1 - c.rgb, p.amount), c.a) end,
}
