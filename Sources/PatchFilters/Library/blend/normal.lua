-- Source over (Porter and Duff): overlay + image * (1 - overlay's alpha), premultiplied. GPUImage's normal blend with its
-- alpha corrected. Working light: encoded, or linear where the graph asks for it (the mask counts by its codes). The
-- result's alpha is the union of both.
-- opacity: 0…1 of the overlay, neutral 0; mask (optional): its luminance weighs the overlay pixel by pixel.
local blend = require "library.blend"

return kernel {
  summary = "Lays one picture over another.",
  inputs = { "image", "overlay", "mask" },
  optional = { mask = "#ffffff" },
  light = "graph",
  weights = { "mask" },
  alpha = "premultiplied",
  keepsAlpha = false,
  params = { opacity = { 1, min = 0, max = 1, neutral = 0, label = "Opacity" } },
  pixel = function(image, overlay, mask, p)
    local over = overlay * blend.share(mask, p)
    return over + image * (1 - over.a)
  end,
}
