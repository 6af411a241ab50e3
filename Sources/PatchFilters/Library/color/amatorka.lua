-- A look in the spirit of GPUImage's Amatorka (whose lookup picture is not ours to ship): faded and a little green, as an
-- old magazine. Lifted blacks, soft shoulder, less saturation, shadows to teal, lights to cream.
-- Encoded values, clipped to 0…1. Alpha is kept.
-- intensity: 0…1, neutral 0. The numbers are in the function: a starting point for looks of your own.
local hsl = require "library.hsl"

return kernel {
  summary = "A faded look with teal shadows and creamy lights.",
  params = { intensity = { 1, min = 0, max = 1, neutral = 0, label = "Intensity" } },
  pixel = function(c, p)
    local function look(rgb)
      local y = hsl.luminance(rgb)
      local faded = 0.06 + 0.90 * smoothstep(-0.15, 1.15, rgb)
      local calm = mix(vec3(hsl.luminance(faded)), faded, 0.78)
      return calm + mix(vec3(-0.03, 0.02, 0.03), vec3(0.04, 0.025, -0.05), y)
    end
    return vec4(mix(c.rgb, clamp(look(clamp(c.rgb, 0, 1)), 0, 1), p.intensity), c.a)
  end,
}
