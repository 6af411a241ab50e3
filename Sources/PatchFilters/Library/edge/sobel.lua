-- Sobel's edge strength of the luma: the length of (gx, gy) times edgeStrength, as grey.
-- gx = right column - left column, gy = lower row - upper row, middles counting 2.
--
-- Luma .2125 .7154 .0721 of encoded values, straight alpha, which is kept. edgeStrength: 0…8; above 1 shows beyond white.
return kernel {
  summary = "Draws edges in white on black, by Sobel's operator.",
  params = { edgeStrength = { 1, min = 0, max = 8, label = "Edge strength" } },
  passes = {
    { name = "luma", channels = 1, pixel = function(c) return vec4(dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))) end },
    { inputs = { "luma", "image" }, sample = function(luma, image, _, p)
      local function at(x, y) return luma:at(x, y).r end
      local gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1)
      local gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1)
      return vec4(vec3(length(vec2(gx, gy)) * p.edgeStrength), image:at(0, 0).a)
    end },
  },
}
