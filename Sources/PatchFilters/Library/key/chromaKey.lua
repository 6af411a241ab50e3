-- Keys out a wall of one colour: the share that stays is smoothstep(threshold, threshold + smoothing, d), with d the
-- distance of Cb and Cr (BT.601) from the key colour's, times 1.41 so that GPUImage's values mean about the same. Luma
-- does not count, so shadows on the wall go too. Encoded colour, premultiplied alpha: the picture's alpha times the share.
-- Spill: what the wall casts on the picture is taken back along the key colour's chroma, as far as the pixel leans that way
-- (spill 1: all of it, neutral 0); the luma stays, so the place turns grey, not dark.
-- color: of the wall; threshold, smoothing, spill: 0…1. background (optional): what shows behind; without it the wall
-- is see-through.
-- Nothing is keyed where d never falls below threshold + smoothing; there is no neutral value.
local key = require "library.key"

return kernel {
  summary = "Makes a green or blue wall see-through, or puts a background there.",
  inputs = { "foreground", "background" },
  optional = { background = "#00000000" },
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    color = { "#00ff00", label = "Key colour" },
    threshold = { 0.4, min = 0, max = 1, label = "Threshold" },
    smoothing = { 0.1, min = 0, max = 1, label = "Smoothing" },
    spill = { 0, min = 0, max = 1, label = "Spill suppression" },
  },
  pixel = function(image, background, p)
    local rgb = key.straight(image)
    local chroma, wall = key.chroma(rgb), key.chroma(p.color.rgb)
    local keep = key.ramp(distance(chroma, wall) * 1.41, p.threshold, p.smoothing)
    -- The part of the pixel's chroma that points at the wall's.
    local direction = wall / max(length(wall), 0.0001)
    local lean = max(dot(chroma, direction), 0) * p.spill
    local moved = direction * -lean
    local clean = rgb + vec3(1.402 * moved.y, -0.344136 * moved.x - 0.714136 * moved.y, 1.772 * moved.x)
    return key.over(vec4(max(clean, 0) * image.a, image.a), background, keep)
  end,
}
