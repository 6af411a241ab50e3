-- Warmer or cooler, greener or more magenta, as GPUImage's: tint on the Q axis of YIQ, temperature as a mix towards a
-- soft-light blend with a warm orange (.93, .54, 0). Encoded values. Alpha is kept.
-- temperature: 2500…10000 kelvin, neutral 5000; tint: -200…200, neutral 0.
return kernel {
  summary = "Corrects the colour of the light.",
  params = {
    temperature = { 5000, min = 2500, max = 10000, neutral = 5000, unit = "K", label = "Temperature" },
    tint = { 0, min = -200, max = 200, neutral = 0, label = "Tint" },
  },
  pixel = function(c, p)
    local y = dot(c.rgb, vec3(0.299, 0.587, 0.114))
    local i = dot(c.rgb, vec3(0.596, -0.274, -0.322))
    local q = clamp(dot(c.rgb, vec3(0.212, -0.523, 0.311)) + p.tint / 100 * 0.5226 * 0.1, -0.5226, 0.5226)
    local tinted = vec3(
      y + 0.956 * i + 0.621 * q,
      y - 0.272 * i - 0.647 * q,
      y - 1.105 * i + 1.702 * q)
    local rgb = select(eq(p.tint, 0), c.rgb, tinted)
    local warm = vec3(0.93, 0.54, 0.0)
    local dark = 2 * rgb * warm
    local light = 1 - 2 * (1 - rgb) * (1 - warm)
    local blended = mix(light, dark, 1 - step(0.5, rgb))
    -- GPUImage's scale: four parts in ten thousand a kelvin below 5000, six in a hundred thousand above.
    local below, above = 0.0004 * (p.temperature - 5000), 0.00006 * (p.temperature - 5000)
    return vec4(mix(rgb, blended, select(lt(p.temperature, 5000), below, above)), c.a)
  end,
}
