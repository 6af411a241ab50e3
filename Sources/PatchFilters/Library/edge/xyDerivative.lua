-- Derivatives of the luma, for corner detectors: red is dx squared, green dy squared, blue (dx dy + 1) / 2.
-- dx = right column - left column, dy = lower row - upper row (three pixels each, all counting 1), times edgeStrength.
--
-- Luma .2125 .7154 .0721 of encoded values, straight alpha, which is kept. edgeStrength: 0…8.
return kernel {
  summary = "Products of the luma's derivatives, for corner detectors.",
  params = { edgeStrength = { 1, min = 0, max = 8, label = "Edge strength" } },
  passes = {
    { name = "luma", channels = 1, pixel = function(c) return vec4(dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))) end },
    { inputs = { "luma", "image" }, sample = function(luma, image, _, p)
      local function at(x, y) return luma:at(x, y).r end
      local dx = p.edgeStrength * (at(1, -1) + at(1, 0) + at(1, 1) - at(-1, -1) - at(-1, 0) - at(-1, 1))
      local dy = p.edgeStrength * (at(-1, 1) + at(0, 1) + at(1, 1) - at(-1, -1) - at(0, -1) - at(1, -1))
      return vec4(dx * dx, dy * dy, (dx * dy + 1) / 2, image:at(0, 0).a)
    end },
  },
}
