-- Keys out one colour: the share that stays is smoothstep(tolerance, tolerance + softness, d), with d the distance of red,
-- green and blue from the key colour's (0…1.73). Light counts too: for screens and drawings; for lit walls use chromaKey.
-- Encoded colour, premultiplied alpha: the picture's alpha times the share.
-- color: what goes; tolerance: 0…1; softness: 0…1. background (optional): what shows behind; without it the colour is
-- see-through.
local key = require "library.key"

return kernel {
  summary = "Makes one colour see-through.",
  inputs = { "foreground", "background" },
  optional = { background = "#00000000" },
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    color = { "#000000", label = "Key colour" },
    tolerance = { 0.1, min = 0, max = 1, label = "Tolerance" },
    softness = { 0.1, min = 0, max = 1, label = "Softness" },
  },
  pixel = function(image, background, p)
    local away = distance(key.straight(image), p.color.rgb)
    return key.over(image, background, key.ramp(away, p.tolerance, p.softness))
  end,
}
