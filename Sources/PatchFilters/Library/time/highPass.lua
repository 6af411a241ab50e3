-- Shows what changes: |image - low|, where low is lowPass: strength * (low of the frame before) + (1 - strength) * image.
-- As in GPUImage, the difference has no sign. The first frame is black.
-- Working light: encoded, straight; alpha is kept. strength: 0…1; 0 is always black, 1 compares with the first frame for ever.
return kernel {
  summary = "Shows only what changes over time.",
  params = { strength = { 0.5, min = 0, max = 1, label = "Strength" } },
  passes = {
    { name = "low", inputs = { "image", "low@previous" }, pixel = function(c, before, p)
      return mix(c, before, p.strength)
    end },
    { inputs = { "image", "low" }, pixel = function(c, low) return vec4(abs(c.rgb - low.rgb), c.a) end },
  },
}
