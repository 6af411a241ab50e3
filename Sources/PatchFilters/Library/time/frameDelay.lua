-- Shows the picture of so many frames ago; the first picture until there is one as old.
--
-- Working light: encoded, premultiplied; alpha is delayed like the colours. frames: 1…120; their memory is counted.
return kernel {
  summary = "Delays the picture by some frames.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  options = { frames = { 1, min = 1, max = 120 } },
  passes = function(options)
    return { { inputs = { "image@" .. options.frames }, pixel = function(c) return c end } }
  end,
}
