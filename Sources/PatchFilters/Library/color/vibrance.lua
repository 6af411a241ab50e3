-- Saturation that spares what is colourful already, as GPUImage's: towards the greatest channel, by how far it is from
-- the mean. Encoded values. Alpha is kept.
-- vibrance: -1.2…1.2, neutral 0; below 0 colours fade.
return kernel {
  summary = "Makes pale colours stronger and spares strong ones.",
  params = { vibrance = { 0, min = -1.2, max = 1.2, neutral = 0, label = "Vibrance" } },
  pixel = function(c, p)
    local mean = (c.r + c.g + c.b) / 3
    local most = max(c.r, max(c.g, c.b))
    return vec4(mix(c.rgb, vec3(most), (most - mean) * (-p.vibrance * 3)), c.a)
  end,
}
