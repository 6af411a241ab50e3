-- Leaves trails: the greater of image and decay * (the result of the frame before), channel by channel.
--
-- Working light: encoded, premultiplied; alpha has trails like the colours. decay: 0…1 a frame; 0 changes nothing, 1 keeps the
-- lightest value for ever.
return kernel {
  summary = "Leaves fading trails behind light things that move.",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = { decay = { 0.9, min = 0, max = 1, neutral = 0, label = "Decay" } },
  passes = {
    { inputs = { "image", "previous" }, pixel = function(c, before, p) return max(c, before * p.decay) end },
  },
}
