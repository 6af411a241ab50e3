-- The colourist's three wheels: ((rgb * (gain - lift) + lift) ^ (1 / gamma)). Encoded values; below 0 counts as 0 where
-- gamma is not 1. Alpha is kept.
-- lift: -1…1, neutral 0; gamma: 0.1…4, neutral 1; gain: 0…4, neutral 1; each for r, g, b.
return kernel {
  summary = "Shadows, middle tones and lights, each for red, green and blue.",
  params = {
    lift = { { 0, 0, 0 }, min = -1, max = 1, neutral = { 0, 0, 0 }, label = "Lift" },
    gamma = { { 1, 1, 1 }, min = 0.1, max = 4, neutral = { 1, 1, 1 }, label = "Gamma" },
    gain = { { 1, 1, 1 }, min = 0, max = 4, neutral = { 1, 1, 1 }, label = "Gain" },
  },
  pixel = function(c, p)
    local line = c.rgb * (p.gain - p.lift) + p.lift
    return vec4(select(eq(p.gamma, vec3(1)), line, pow(max(line, 0), 1 / p.gamma)), c.a)
  end,
}
