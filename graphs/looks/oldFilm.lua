-- An old print: brown, grainy, darker towards the corners, and flickering a little. Encoded values; alpha is kept.
return kernel {
  summary = "A brown, grainy, flickering old print.",
  params = {
    age = { 0.6, min = 0, max = 1, neutral = 0, label = "Age" },
    grain = { 0.08, min = 0, max = 0.5, neutral = 0, label = "Grain" },
  },
  pixel = function(c, p)
    local grey = dot(c.rgb, vec3(0.299, 0.587, 0.114))
    local brown = vec3(grey * 1.07, grey * 0.92, grey * 0.72)
    local corner = 1 - 0.5 * smoothstep(0.35, 0.8, distance(uv, vec2(0.5)))
    local flicker = 1 + 0.03 * sin(time * 37) * sin(time * 11)
    local aged = mix(c.rgb, brown * corner * flicker, p.age)
    return vec4(aged + (hash() - 0.5) * p.grain, c.a)
  end,
}
