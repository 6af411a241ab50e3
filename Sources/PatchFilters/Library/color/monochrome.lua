-- One colour, as GPUImage's: overlays the colour on the luminance, and mixes by intensity. Encoded values. Alpha is kept.
-- color: any; intensity: 0…1, neutral 0.
return kernel {
  summary = "Shades of one colour.",
  params = {
    color = { "#99734d", label = "Colour" },
    intensity = { 1, min = 0, max = 1, neutral = 0, label = "Intensity" },
  },
  pixel = function(c, p)
    local grey = dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))
    local dark = 2 * grey * p.color.rgb
    local light = 1 - 2 * (1 - grey) * (1 - p.color.rgb)
    return vec4(mix(c.rgb, select(lt(grey, 0.5), dark, light), p.intensity), c.a)
  end,
}
