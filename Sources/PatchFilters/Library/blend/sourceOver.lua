-- GPUImage's name for blend.normal: overlay + image * (1 - overlay's alpha), premultiplied (Porter and Duff).
-- Working light: encoded.
-- opacity: 0…1 of the overlay, neutral 0.
return kernel {
  summary = "Lays one picture over another.",
  space = "any",
  inputs = { "image", "overlay" },
  alpha = "premultiplied",
  params = { opacity = { 1, min = 0, max = 1, neutral = 0, label = "Opacity" } },
  pixel = function(image, overlay, p)
    local over = overlay * p.opacity
    return over + image * (1 - over.a)
  end,
}
