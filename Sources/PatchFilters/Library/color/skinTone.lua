-- Shifts the tone of skin and leaves other colours: after GPUImage's skin tone filter, in HSV.
-- A pixel's share is exp(-threshold * d * d), with d its hue's distance from `hue` on the circle in turns, times its
-- saturation's smoothstep(0, 0.1): greys have no hue. By amount * share the hue moves by at most hueShift turns (towards
-- green or orange for positive, pink for negative amounts) and the saturation by at most saturationShift of itself.
-- Encoded values, within 0…1. Alpha is kept.
-- amount: -1…1, neutral 0; hue: 0…1 turns; threshold: 1…200, greater is narrower; hueShift, saturationShift: 0…0.5.
local hsl = require "library.hsl"

return kernel {
  summary = "Makes skin rosier or more tanned.",
  params = {
    amount = { 0, min = -1, max = 1, neutral = 0, label = "Skin tone" },
    hue = { 0.05, min = 0, max = 1, unit = "turns", label = "Skin's hue" },
    threshold = { 40, min = 1, max = 200, label = "Narrowness" },
    hueShift = { 0.25, min = 0, max = 0.5, unit = "turns", label = "Hue shift" },
    saturationShift = { 0.4, min = 0, max = 0.5, label = "Saturation shift" },
  },
  pixel = function(c, p)
    local hsv = hsl.toHSV(clamp(c.rgb, 0, 1))
    -- The shorter way round the circle, -1/2…1/2.
    local d = fract(hsv.x - p.hue + 0.5) - 0.5
    local share = exp(-p.threshold * d * d) * smoothstep(0, 0.1, hsv.y) * p.amount
    local toned = hsl.fromHSV(vec3(
      hsv.x + share * p.hueShift,
      clamp(hsv.y * (1 + share * p.saturationShift), 0, 1),
      hsv.z))
    return vec4(select(eq(p.amount, 0), c.rgb, toned), c.a)
  end,
}
