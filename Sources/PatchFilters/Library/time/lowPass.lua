-- Keeps what changes slowly: strength * (the result of the frame before) + (1 - strength) * image, a first-order low-pass in
-- time, as GPUImage's. The first frame begins with the image itself.
-- Working light: encoded, premultiplied; alpha is smoothed like the colours. strength: 0…1, neutral 0; 1 keeps the first frame.
return kernel {
  summary = "Smooths the picture over time.",
  alpha = "premultiplied",
  params = { strength = { 0.5, min = 0, max = 1, neutral = 0, label = "Strength" } },
  passes = {
    { inputs = { "image", "previous" }, pixel = function(c, before, p) return mix(c, before, p.strength) end },
  },
}
