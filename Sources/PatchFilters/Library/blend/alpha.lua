-- GPUImage's alpha blend: mix(image, overlay, overlay's alpha * mix) on straight colour, encoded or, where the graph asks for it,
-- linear (the mask counts by its codes); the picture keeps its own alpha, so over see-through pictures it differs from
-- blend.normal.
-- mix: 0…1, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel {
  summary = "Mixes the overlay in by its alpha and a share; the picture keeps its alpha.",
  inputs = { "image", "overlay", "mask" },
  optional = { mask = "#ffffff" },
  light = "graph",
  weights = { "mask" },
  params = { mix = { 1, min = 0, max = 1, neutral = 0, label = "Mix" } },
  pixel = function(image, overlay, mask, p)
    local share = overlay.a * blend.share(mask, { opacity = p.mix })
    return vec4(mix(image.rgb, overlay.rgb, share), image.a)
  end,
}
