-- The mean of the (2 radius + 1)^2 pixels around each pixel.
--
-- Encoded values; premultiplied, so that see-through pixels give no colour; alpha is blurred with the colour. radius: 1…100 pixels.
-- Means of 4, then 16, then 64 pixels in a row are made of each other, so that the cost grows with the logarithm of the radius.
return kernel {
  summary = "Blurs by the plain mean of a square.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  options = { radius = { 4, min = 1, max = 100 } },
  passes = function(options) return (require "library.means").square("image", options.radius, 4) end,
}
