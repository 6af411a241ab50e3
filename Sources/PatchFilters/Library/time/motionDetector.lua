-- Finds motion: each pixel whose luma differs from the low-passed luma by more than threshold counts. As data,
-- `node:onData(function(d) … end)`: d.amount, the part of all pixels that moves (0…1), and d.centroid = {x, y}, their middle in
-- 0…1 from the upper left ({0.5, 0.5} when nothing moves). The picture shows the moving pixels, tinted, on top of the image.
--
-- low = strength * (low of the frame before, at first luma) + (1 - strength) * luma, weights .2125 .7154 .0721. Working light: encoded,
-- straight; alpha is kept. strength: 0…1, threshold: 0…1. show: 0…1, how strong the tint is; 0 shows the image as it is.
return kernel {
  summary = "Finds what moves, where and how much.",
  params = {
    strength = { 0.5, min = 0, max = 1, label = "Memory" },
    threshold = { 0.2, min = 0, max = 1, label = "Threshold" },
    show = { 0, min = 0, max = 1, neutral = 0, label = "Show" },
  },
  passes = {
    { name = "luma", channels = 1, pixel = function(c)
      return vec4(dot(c.rgb, vec3(0.2125, 0.7154, 0.0721)))
    end },
    { name = "low", channels = 1, inputs = { "luma", "low@previous" }, pixel = function(luma, before, p)
      return vec4(mix(luma.r, before.r, p.strength))
    end },
    { name = "moving", channels = 1, inputs = { "luma", "low" }, pixel = function(luma, low, p)
      return vec4(step(p.threshold, abs(luma.r - low.r)))
    end },
    { name = "found", native = "centroid" },
    { inputs = { "image", "moving" }, pixel = function(c, moving, p)
      return vec4(mix(c.rgb, vec3(1, 0.2, 0), p.show * moving.r), c.a)
    end },
  },
}
