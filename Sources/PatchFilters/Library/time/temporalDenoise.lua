-- Removes noise over time where nothing moves: mix(image, result of the frame before, keep), where
-- keep = strength * (1 - smoothstep(threshold / 2, threshold, difference)) and difference is the mean over 3x3 pixels of the
-- largest channel's |image - before|. Noise differs a little everywhere, motion much in one place.
--
-- Working light: encoded, straight; alpha is kept. strength: 0…0.95; 0 changes nothing. threshold: 0.01…1.
return kernel {
  summary = "Removes noise where the picture stands still.",
  params = {
    strength = { 0.75, min = 0, max = 0.95, neutral = 0, label = "Strength" },
    threshold = { 0.1, min = 0.01, max = 1, label = "Motion threshold" },
  },
  passes = {
    { name = "difference", channels = 1, inputs = { "image", "previous" }, pixel = function(c, before)
      local d = abs(c.rgb - before.rgb)
      return vec4(max(d.r, max(d.g, d.b)))
    end },
    { inputs = { "image", "previous", "difference" }, sample = function(image, previous, difference, _, p)
      local sum
      for y = -1, 1 do
        for x = -1, 1 do
          local part = difference:at(x, y).r
          sum = sum and sum + part or part
        end
      end
      local keep = p.strength * (1 - smoothstep(p.threshold / 2, p.threshold, sum / 9))
      local c = image:at(0, 0)
      return vec4(mix(c.rgb, previous:at(0, 0).rgb, keep), c.a)
    end },
  },
}
