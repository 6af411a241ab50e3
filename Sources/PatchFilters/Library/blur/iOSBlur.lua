-- The frosted glass of a phone's panels: less saturation, a wide Gaussian, and a smaller range of brightness.
-- grey + saturation (rgb - grey) with weights .2125 .7154 .0721, then the Gaussian, then rgb + (.5 - luma) * rangeReduction.
--
-- Encoded values, premultiplied; alpha is blurred with the colour. sigma: 0…200 pixels (GPUImage's radius of 12 at a quarter of
-- the size is 48). saturation: 0…2. rangeReduction: 0…1. Neutral: sigma 0, saturation 1, rangeReduction 0.

return kernel {
  summary = "Frosted glass, as behind a phone's panels.",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    sigma = { 48, min = 0, max = 200, neutral = 0, label = "Blur", unit = "px" },
    saturation = { 0.8, min = 0, max = 2, neutral = 1, label = "Saturation" },
    rangeReduction = { 0.6, min = 0, max = 1, neutral = 0, label = "Range reduction" },
  },
  passes = {
    { name = "pale", pixel = function(c, p)
      local grey = dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))
      return vec4(grey + (c.rgb - grey) * p.saturation, c.a)
    end },
    { name = "blurred", native = "gaussian", params = { sigma = "sigma" } },
    { alpha = "straight", pixel = function(c, p)
      local luma = dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))
      return vec4(c.rgb + (0.5 - luma) * p.rangeReduction, c.a)
    end },
  },
}
