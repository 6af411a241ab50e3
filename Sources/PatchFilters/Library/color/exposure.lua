-- Light in stops: rgb * 2 ^ exposure. GPUImage multiplies encoded values, and so does this. Alpha is kept.
-- exposure: -10…10 stops, neutral 0. The result is not clamped.
return kernel {
  summary = "Multiplies the light, in stops.",
  params = { exposure = { 0, min = -10, max = 10, neutral = 0, unit = "EV", label = "Exposure" } },
  pixel = function(c, p) return vec4(c.rgb * exp2(p.exposure), c.a) end,
}
