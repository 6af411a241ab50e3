-- Embosses: the 3x3 matrix  -2i -i 0 / -i 1 i / 0 i 2i,  lit from above left.
-- Encoded values, straight alpha, which is kept. intensity i: 0…4; 0 changes nothing.
return kernel {
  summary = "Makes a relief, lit from above left.",
  params = { intensity = { 1, min = 0, max = 4, neutral = 0, label = "Intensity" } },
  sample = function(src, pos, p)
    local centre = src:at(0, 0)
    local slope = 2 * (src:at(1, 1).rgb - src:at(-1, -1).rgb) + src:at(1, 0).rgb + src:at(0, 1).rgb - src:at(-1, 0).rgb
      - src:at(0, -1).rgb
    return vec4(centre.rgb + p.intensity * slope, centre.a)
  end,
}
