-- The colours of the cinema: shadows towards teal, lights and skin towards orange. Encoded values; alpha is kept.
return kernel {
  summary = "Teal shadows and orange lights.",
  params = { amount = { 0.5, min = 0, max = 1, neutral = 0, label = "Amount" } },
  pixel = function(c, p)
    local grey = dot(c.rgb, vec3(0.2126, 0.7152, 0.0722))
    local toned = mix(vec3(-0.06, 0.03, 0.06), vec3(0.08, 0.02, -0.08), smoothstep(0, 1, grey))
    return vec4(c.rgb + toned * p.amount, c.a)
  end,
}
