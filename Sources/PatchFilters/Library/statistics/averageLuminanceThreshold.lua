-- White where the luminance is at least `multiplier` times the picture's mean luminance, black elsewhere:
-- step(multiplier * mean, Y), Y = 0.2125 R' + 0.7154 G' + 0.0721 B', GPUImage's weights for both.
-- Working light: encoded. Alpha is kept. multiplier: 0…4; no neutral value.
local weights = { 0.2125, 0.7154, 0.0721 }
return kernel {
  summary = "Black and white, split at the picture's mean luminance.",
  params = { multiplier = { 1, min = 0, max = 4, label = "Times the mean" } },
  passes = {
    { name = "mean", native = "meanColor" },
    { inputs = { "image", "mean" }, sample = function(image, means, pos, p)
      local c, mean = image:at(0, 0), means:sample(vec2(0.5), "nearest")
      local weight = vec3(weights[1], weights[2], weights[3])
      local white = step(p.multiplier * dot(mean.rgb, weight), dot(c.rgb, weight))
      return vec4(vec3(white), c.a)
    end },
  },
}
