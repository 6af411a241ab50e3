-- Few steps a channel, as GPUImage's: floor(rgb * levels + 0.5) / levels. Encoded values. Alpha is kept.
-- levels: 1…256 steps a channel; at 256 the picture is nearly what it was.
return kernel {
  summary = "Leaves only a few steps in each channel.",
  params = { levels = { 10, min = 1, max = 256, label = "Levels" } },
  pixel = function(c, p) return vec4(floor(c.rgb * p.levels + 0.5) / p.levels, c.a) end,
}
