-- Multiplies alpha. Any light. Alpha is what changes; straight colour is kept.
-- opacity: 0…1, neutral 1; at 0 nothing can be seen.
return kernel {
  summary = "Makes the picture see-through.",
  space = "any",
  keepsAlpha = false,
  params = { opacity = { 1, min = 0, max = 1, neutral = 1, label = "Opacity" } },
  pixel = function(c, p) return vec4(c.rgb, c.a * p.opacity) end,
}
