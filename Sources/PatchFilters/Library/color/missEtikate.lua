-- A look in the spirit of GPUImage's Miss Etikate (whose lookup picture is not ours to ship): crisp and rosy. More contrast
-- around the middle, magenta shadows, warm lights, a little more saturation.
-- Encoded values, clipped to 0…1. Alpha is kept.
-- intensity: 0…1, neutral 0. The numbers are in the function: a starting point for looks of your own.
local hsl = require "library.hsl"

return kernel {
  summary = "A crisp look with rosy shadows and warm lights.",
  params = { intensity = { 1, min = 0, max = 1, neutral = 0, label = "Intensity" } },
  pixel = function(c, p)
    local function look(rgb)
      local y = hsl.luminance(rgb)
      local crisp = mix(rgb, smoothstep(0, 1, rgb), 0.6)
      local lively = mix(vec3(hsl.luminance(crisp)), crisp, 1.12)
      return lively + mix(vec3(0.035, -0.015, 0.03), vec3(0.03, 0.01, -0.03), y)
    end
    return vec4(mix(c.rgb, clamp(look(clamp(c.rgb, 0, 1)), 0, 1), p.intensity), c.a)
  end,
}
