-- Turns the hue in the YIQ plane (NTSC's matrices, as GPUImage's). Encoded values. Alpha is kept.
-- A positive hue turns against the YIQ angle, as GPUImage does.
-- hue: -180…180 degrees, neutral 0; -180 and 180 are the same. Luminance is kept within rounding.
return kernel {
  summary = "Turns all hues around the colour circle.",
  params = { hue = { 0, min = -180, max = 180, neutral = 0, unit = "°", label = "Hue" } },
  pixel = function(c, p)
    local y = dot(c.rgb, vec3(0.299, 0.587, 0.114))
    local i = dot(c.rgb, vec3(0.595716, -0.274453, -0.321263))
    local q = dot(c.rgb, vec3(0.211456, -0.522591, 0.311135))
    local angle = -radians(p.hue)
    local s, k = sin(angle), cos(angle)
    local i2, q2 = i * k - q * s, i * s + q * k
    local turned = vec3(
      y + 0.9563 * i2 + 0.6210 * q2,
      y - 0.2721 * i2 - 0.6474 * q2,
      y - 1.1070 * i2 + 1.7046 * q2)
    return vec4(select(eq(p.hue, 0), c.rgb, turned), c.a)
  end,
}
