-- The unsharp mask: blurred + intensity * (image - blurred), with a Gaussian of sigma.
--
-- Encoded values, straight alpha, which is kept. intensity: 0…8; 1 changes nothing, below 1 it softens. sigma: 0…50 pixels.
return kernel {
  summary = "Sharpens by what a blur takes away.",
  params = {
    intensity = { 1.5, min = 0, max = 8, neutral = 1, label = "Intensity" },
    sigma = { 4, min = 0, max = 50, label = "Radius", unit = "px" },
  },
  passes = {
    { name = "blurred", native = "gaussian", params = { sigma = "sigma" } },
    { inputs = { "image", "blurred" }, pixel = function(image, blurred, p)
      return vec4(blurred.rgb + p.intensity * (image.rgb - blurred.rgb), image.a)
    end },
  },
}
