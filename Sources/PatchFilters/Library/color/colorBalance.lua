-- Colour balance of shadows, middle tones and lights, by GIMP's weights: with L = (max + min) / 2 of the channels,
--   shadows' weight = 0.7 * clamp((1/3 - L) * 4 + 1/2), lights' = 0.7 * clamp((L - 2/3) * 4 + 1/2),
--   middle tones' = 0.7 * clamp((L - 1/3) * 4 + 1/2) * clamp((2/3 - L) * 4 + 1/2);
-- each channel gains its three amounts times these weights and is clipped to 0…1. keepLightness puts the lightness
-- (max + min) / 2 back afterwards. Encoded values. Alpha is kept.
-- shadows, midtones, highlights: red, green, blue, -1…1, neutral 0 (for pictures within 0…1).
local hsl = require "library.hsl"

return kernel {
  summary = "Shifts the colours of shadows, middle tones and lights.",
  params = {
    shadows = { { 0, 0, 0 }, min = -1, max = 1, neutral = { 0, 0, 0 }, label = "Shadows" },
    midtones = { { 0, 0, 0 }, min = -1, max = 1, neutral = { 0, 0, 0 }, label = "Middle tones" },
    highlights = { { 0, 0, 0 }, min = -1, max = 1, neutral = { 0, 0, 0 }, label = "Lights" },
    keepLightness = { true, label = "Keep lightness" },
  },
  pixel = function(c, p)
    local function lightness(rgb) return (hsl.most(rgb) + hsl.least(rgb)) / 2 end
    local rgb = clamp(c.rgb, 0, 1)
    local l = lightness(rgb)
    local function ramp(x) return clamp(x * 4 + 0.5, 0, 1) end
    local moved = rgb + 0.7 * (p.shadows * ramp(1 / 3 - l)
      + p.midtones * (ramp(l - 1 / 3) * ramp(2 / 3 - l))
      + p.highlights * ramp(l - 2 / 3))
    local balanced = clamp(moved, 0, 1)
    -- Lightness is put back as in HSL: the spread around it shrinks where it must.
    local now = lightness(balanced)
    local room = (1 - abs(2 * l - 1)) / max(1 - abs(2 * now - 1), 0.0001)
    local kept = l + (balanced - now) * min(room, 1)
    return vec4(select(p.keepLightness, clamp(kept, 0, 1), balanced), c.a)
  end,
}
