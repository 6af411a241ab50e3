-- Tints shadows and lights, as GPUImage's: with Y the luminance (.2125 .7154 .0721),
--   s = mix(rgb, max(rgb, mix(shadowTint, rgb, Y)), shadowIntensity)
--   h = mix(rgb, min(s, mix(s, highlightTint, Y)), highlightIntensity),  result = mix(s, h, Y).
-- Encoded values; Y is clipped to 0…1. Alpha is kept.
-- shadowIntensity, highlightIntensity: 0…1, both neutral 0. The highlights' branch starts from the untinted colour, as
-- GPUImage's does, so a strong shadow tint fades where it is light.
local hsl = require "library.hsl"

return kernel {
  summary = "Tints the shadows and the lights.",
  params = {
    shadowTint = { "#ff0000", label = "Shadow tint" },
    shadowIntensity = { 0, min = 0, max = 1, neutral = 0, label = "Shadow intensity" },
    highlightTint = { "#0000ff", label = "Highlight tint" },
    highlightIntensity = { 0, min = 0, max = 1, neutral = 0, label = "Highlight intensity" },
  },
  pixel = function(c, p)
    local rgb = c.rgb
    local y = clamp(hsl.luminance(rgb), 0, 1)
    local s = mix(rgb, max(rgb, mix(p.shadowTint.rgb, rgb, y)), p.shadowIntensity)
    local h = mix(rgb, min(s, mix(s, p.highlightTint.rgb, y)), p.highlightIntensity)
    return vec4(mix(s, h, y), c.a)
  end,
}
