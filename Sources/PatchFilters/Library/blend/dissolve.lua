-- GPUImage's dissolve: a plain mix, (1 - mix) image + mix overlay, alpha too, on premultiplied colour, encoded or,
-- where the graph asks for it, linear (the mask counts by its codes).
-- grain = true: Photoshop's dissolve instead: a share of the pixels, chosen at random and anew each frame, shows the
-- overlay.
-- The result's alpha moves from one picture's to the other's.
-- mix: 0…1, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel {
  summary = "Dissolves from one picture into the other.",
  inputs = { "image", "overlay", "mask" },
  optional = { mask = "#ffffff" },
  light = "graph",
  weights = { "mask" },
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    mix = { 0.5, min = 0, max = 1, neutral = 0, label = "Mix" },
    grain = { false, label = "Random pixels" },
  },
  pixel = function(image, overlay, mask, p)
    local share = blend.share(mask, { opacity = p.mix })
    return mix(image, overlay, select(p.grain, select(lt(hash(), share), 1.0, 0.0), share))
  end,
}
