-- Holds the picture while `hold` is 1: mix(image, result of the frame before, hold). Between 0 and 1 it drags behind.
--
-- Working light: encoded, premultiplied; alpha is held like the colours. hold: 0…1; 0 changes nothing.
return kernel {
  summary = "Freezes the picture.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = { hold = { 0, min = 0, max = 1, neutral = 0, label = "Hold" } },
  passes = {
    { inputs = { "image", "previous" }, pixel = function(c, before, p) return mix(c, before, p.hold) end },
  },
}
