-- Film grain: triangular noise, new in every frame, strongest in the middle tones: rgb + (h1 + h2 - 1) * amount * 4 Y
-- (1 - Y) mixed with 1 by `shadows`. h are hashes of the grain's place and the frame's number: the same on every run.
-- Encoded values; not clipped. Alpha is kept.
-- amount: 0…1, neutral 0; grain: 1…8 pixels; color: 0…1 from grey grain to one for each channel; shadows: 0…1, how
-- much black and white take part.
local hsl = require "library.hsl"

return kernel {
  summary = "Adds film grain.",
  params = {
    amount = { 0.15, min = 0, max = 1, neutral = 0, label = "Amount" },
    grain = { 1, min = 1, max = 8, unit = "px", label = "Grain" },
    color = { 0, min = 0, max = 1, label = "Colour" },
    shadows = { 0.3, min = 0, max = 1, label = "In black and white" },
  },
  pixel = function(c, p)
    local cell = floor(pos / p.grain)
    local function noise(channel)
      return hash(cell.x, cell.y, frame, channel) + hash(cell.x, cell.y, frame, channel + 1) - 1
    end
    local grey = noise(0)
    local own = mix(vec3(grey), vec3(noise(2), noise(4), noise(6)), p.color)
    local y = clamp(hsl.luminance(c.rgb), 0, 1)
    return vec4(c.rgb + own * (p.amount * mix(4 * y * (1 - y), 1, p.shadows)), c.a)
  end,
}
