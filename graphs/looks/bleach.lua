-- Bleach bypass: the silver stays in the film, so colours pale and contrast grows. The luminance is laid over the picture
-- as an overlay blend. Encoded values; alpha is kept.
return kernel {
  summary = "Pale colours and hard contrast, as film that was not bleached.",
  params = { amount = { 0.7, min = 0, max = 1, neutral = 0, label = "Amount" } },
  pixel = function(c, p)
    local grey = dot(c.rgb, vec3(0.2126, 0.7152, 0.0722))
    local dark = 2 * grey * c.rgb
    local light = 1 - 2 * (1 - grey) * (1 - c.rgb)
    local laid = mix(dark, light, smoothstep(0.45, 0.55, grey))
    return vec4(mix(c.rgb, laid, p.amount), c.a)
  end,
}
