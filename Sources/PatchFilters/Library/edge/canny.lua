-- Canny's edges, as GPUImage finds them: luma, a Gaussian of sigma over 9x9 pixels, Sobel's gradient, suppression of what is
-- weaker than a neighbour along the gradient with smoothstep(lower, upper), and inclusion: white where the result is at least .01
-- and its 3x3 neighbourhood sums to at least 1.5.
--
-- Luma .2125 .7154 .0721 of encoded values, straight alpha, which is kept. sigma: 0.5…3 pixels. lowerThreshold, upperThreshold: 0…2;
-- lower above upper counts as a hard step.
local steps = require "library.steps"

return kernel {
  summary = "Draws thin edges in white on black, by Canny's method.",
  params = {
    sigma = { 2, min = 0.5, max = 3, label = "Blur", unit = "px" },
    lowerThreshold = { 0.1, min = 0, max = 2, label = "Lower threshold" },
    upperThreshold = { 0.4, min = 0, max = 2, label = "Upper threshold" },
  },
  passes = {
    { name = "luma", channels = 1, floats = true, pixel = steps.luma },
    { name = "down", channels = 1, floats = true, sample = steps.blur(0, 1) },
    { name = "blurred", channels = 1, floats = true, sample = steps.blur(1, 0) },
    { name = "strength", channels = 1, floats = true, sample = steps.strength },
    { name = "thin", inputs = { "strength", "blurred" }, channels = 1, sample = function(strength, blurred, _, p)
      return steps.thin(strength, blurred, p.lowerThreshold, max(p.upperThreshold, p.lowerThreshold + 0.0001))
    end },
    { inputs = { "thin", "image" }, sample = function(thin, image)
      return vec4(vec3(select(steps.isEdge(thin), 1, 0)), image:at(0, 0).a)
    end },
  },
}
