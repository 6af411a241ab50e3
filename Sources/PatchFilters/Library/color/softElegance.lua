-- A look in the spirit of GPUImage's Soft Elegance (whose lookup pictures are not ours to ship): pastel and airy. Its
-- glow is left to filter.bloom; this is the colour: bright middle tones, low contrast, pale violet shadows, ivory lights.
-- Encoded values, clipped to 0…1. Alpha is kept.
-- intensity: 0…1, neutral 0. The numbers are in the function: a starting point for looks of your own.
local hsl = require "library.hsl"

return kernel {
  summary = "A pastel look, bright and soft.",
  params = { intensity = { 1, min = 0, max = 1, neutral = 0, label = "Intensity" } },
  pixel = function(c, p)
    local function look(rgb)
      local y = hsl.luminance(rgb)
      local airy = 0.05 + 0.93 * pow(max(rgb, 0), vec3(0.82))
      local pale = mix(vec3(hsl.luminance(airy)), airy, 0.85)
      return pale + mix(vec3(0.02, 0.005, 0.04), vec3(0.02, 0.01, -0.02), y)
    end
    return vec4(mix(c.rgb, clamp(look(clamp(c.rgb, 0, 1)), 0, 1), p.intensity), c.a)
  end,
}
