-- Adds to every channel: rgb + brightness. Works on encoded values, as GPUImage's. Alpha is kept.
-- brightness: -1…1, neutral 0; at the ends everything is black or white. Beyond 0…1 the result is not clamped, so that
-- later filters can bring it back.
return kernel {
  summary = "Makes the picture lighter or darker by adding to every channel.",
  params = { brightness = { 0, min = -1, max = 1, neutral = 0, label = "Brightness" } },
  pixel = function(c, p) return vec4(c.rgb + p.brightness, c.a) end,
}
