-- Turns what is brighter than the threshold into its negative, as GPUImage's. Encoded values. Alpha is kept.
-- threshold: 0…1, by luminance (.2125 .7154 .0721); at 1 only white turns.
return kernel {
  summary = "Turns bright parts into their negative.",
  params = { threshold = { 0.5, min = 0, max = 1, label = "Threshold" } },
  pixel = function(c, p)
    local luminance = dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))
    return vec4(select(gt(luminance, p.threshold), 1 - c.rgb, c.rgb), c.a)
  end,
}
