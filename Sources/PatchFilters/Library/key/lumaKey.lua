-- Keys by brightness: the share that stays is smoothstep(threshold, threshold + softness, Y), Y = .2126 .7152 .0722 of the
-- encoded colour: the dark parts go. invert: the light parts go. Premultiplied alpha: the picture's times the share.
-- threshold: 0…1; softness: 0…1. background (optional): what shows behind; without it the dark parts are see-through.
local key = require "library.key"

return kernel {
  summary = "Makes the dark or the light parts see-through.",
  inputs = { "foreground", "background" },
  optional = { background = "#00000000" },
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    threshold = { 0.1, min = 0, max = 1, label = "Threshold" },
    softness = { 0.1, min = 0, max = 1, label = "Softness" },
    invert = { false, label = "Key the lights" },
  },
  pixel = function(image, background, p)
    local y = dot(key.straight(image), vec3(0.2126, 0.7152, 0.0722))
    local keep = key.ramp(y, p.threshold, p.softness)
    return key.over(image, background, select(p.invert, 1 - keep, keep))
  end,
}
