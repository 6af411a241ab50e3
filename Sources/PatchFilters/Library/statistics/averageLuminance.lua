-- The mean luminance of the picture, everywhere, as grey: .2125 .7154 .0721 of the mean colour.
--
-- Encoded values; see-through pixels count by their alpha. The result is opaque: alpha is not kept. No parameters. As data,
-- `node:onData(function(d) … end)`: d.color = {r, g, b, a}, straight, and d.luminance (.2125 .7154 .0721 of it).
return kernel {
  summary = "Shows the picture's mean luminance.",
  keepsAlpha = false,
  passes = {
    { name = "mean", native = "meanColor" },
    { inputs = { "mean" }, sample = function(src)
      local mean = src:sample(vec2(0.5), "nearest")
      return vec4(vec3(dot(mean.rgb, vec3(0.2125, 0.7154, 0.0721))), 1)
    end },
  },
}
