-- The mean colour of the picture, everywhere: sums of all pixels by their number.
-- Working light: encoded, premultiplied; alpha is averaged like the colours. No parameters, no neutral value (one colour is
-- kept as it is). As data, `node:onData(function(d) … end)`: d.color = {r, g, b, a}, straight, and
-- d.luminance (.2125 .7154 .0721 of it).
return kernel {
  summary = "Shows the mean colour of the picture.",
  alpha = "premultiplied",
  keepsAlpha = false,
  passes = {
    { name = "mean", native = "meanColor" },
    { inputs = { "mean" }, sample = function(mean) return mean:sample(vec2(0.5), "nearest") end },
  },
}
