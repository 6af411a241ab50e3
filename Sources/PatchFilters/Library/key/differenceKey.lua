-- Keys by the difference from a clean plate (the same view without the person): the share that stays is
-- smoothstep(threshold, threshold + softness, d), d the distance of red, green and blue from the plate's, encoded values.
-- Premultiplied alpha: the picture's times the share.
-- threshold: 0…1; softness: 0…1. background (optional): what shows behind; without it what equals the plate is see-through.
local key = require "library.key"

return kernel {
  summary = "Keeps what differs from a picture of the empty scene.",
  inputs = { "foreground", "plate", "background" },
  optional = { background = "#00000000" },
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    threshold = { 0.1, min = 0, max = 1, label = "Threshold" },
    softness = { 0.1, min = 0, max = 1, label = "Softness" },
  },
  pixel = function(image, plate, background, p)
    local away = distance(key.straight(image), key.straight(plate))
    return key.over(image, background, key.ramp(away, p.threshold, p.softness))
  end,
}
