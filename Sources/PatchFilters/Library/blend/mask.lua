-- GPUImage's mask filter: the picture's colour with the mask's brightness as its alpha: the mean of its red, green and blue
-- times its alpha. Encoded values. The picture's own alpha does not count, as in GPUImage; alpha is what this filter makes.
-- invert: the dark parts of the mask show instead. amount: 0…1, neutral 0.
return kernel {
  summary = "Cuts the picture out by a mask's brightness.",
  inputs = { "image", "mask" },
  keepsAlpha = false,
  params = {
    amount = { 1, min = 0, max = 1, neutral = 0, label = "Amount" },
    invert = { false, label = "Invert" },
  },
  pixel = function(image, mask, p)
    local grey = clamp((mask.r + mask.g + mask.b) / 3 * mask.a, 0, 1)
    return vec4(image.rgb, mix(image.a, select(p.invert, 1 - grey, grey), p.amount))
  end,
}
