-- Hue, saturation and brightness as one matrix, as GPUImage's HSB filter: the colour is turned around the grey axis by
-- `hue`, pulled from or to its grey (.30 .59 .11) by `saturation`, and multiplied by `brightness`. Encoded values; not
-- clipped. Alpha is kept. The turn does not keep luminance (filter.hue does).
-- hue: -180…180°, neutral 0, red goes towards green; saturation, brightness: 0…2, neutral 1.
return kernel {
  summary = "Hue, saturation and brightness at once.",
  params = {
    hue = { 0, min = -180, max = 180, neutral = 0, unit = "°", label = "Hue" },
    saturation = { 1, min = 0, max = 2, neutral = 1, label = "Saturation" },
    brightness = { 1, min = 0, max = 2, neutral = 1, label = "Brightness" },
  },
  pixel = function(c, p)
    -- Rodrigues: a turn around (1, 1, 1) / sqrt(3) mixes each channel with its two neighbours on the circle.
    local s, k = sin(radians(p.hue)), cos(radians(p.hue))
    local own, next, last = (1 + 2 * k) / 3, (1 - k) / 3 - s / sqrt(3), (1 - k) / 3 + s / sqrt(3)
    local turned = own * c.rgb + next * c.gbr + last * c.brg
    local grey = dot(turned, vec3(0.30, 0.59, 0.11))
    return vec4((grey + (turned - grey) * p.saturation) * p.brightness, c.a)
  end,
}
