-- Multiplies the channels: (r * red, g * green, b * blue) on encoded values, as GPUImage's. Alpha is kept.
-- red, green, blue: 0…2, neutral 1. The result is not clamped.
return kernel {
  summary = "Makes each channel stronger or weaker.",
  params = {
    red = { 1, min = 0, max = 2, neutral = 1, label = "Red" },
    green = { 1, min = 0, max = 2, neutral = 1, label = "Green" },
    blue = { 1, min = 0, max = 2, neutral = 1, label = "Blue" },
  },
  pixel = function(c, p) return vec4(c.rgb * vec3(p.red, p.green, p.blue), c.a) end,
}
