-- Lifts shadows and lowers highlights, as GPUImage's: by luminance (.3 .3 .3), keeping the hue. Encoded values. Alpha is
-- kept.
-- shadows: 0…1, neutral 0, lifts; highlights: 0…1, neutral 1, lowers when smaller. Values below 0 count as 0.
return kernel {
  summary = "Lifts the shadows and lowers the lights.",
  params = {
    shadows = { 0, min = 0, max = 1, neutral = 0, label = "Shadows" },
    highlights = { 1, min = 0, max = 1, neutral = 1, label = "Highlights" },
  },
  pixel = function(c, p)
    local y = max(dot(c.rgb, vec3(0.3)), 0)
    local lift = clamp(pow(y, 1 / (p.shadows + 1)) - 0.76 * pow(y, 2 / (p.shadows + 1)) - y, 0, 1)
    local rest = max(1 - y, 0)
    local lower = clamp(1 - pow(rest, 1 / (2 - p.highlights)) + 0.8 * pow(rest, 2 / (2 - p.highlights)) - y, -1, 0)
    local gain = (y + lift + lower) / max(y, 0.0001)
    -- At the neutral values the curves leave a small rest of their own: they fade in with the knobs.
    local strength = clamp(50 * max(p.shadows, 1 - p.highlights), 0, 1)
    return vec4(mix(c.rgb, c.rgb * gain, strength), c.a)
  end,
}
