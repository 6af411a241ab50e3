-- A convolution by any 3x3 matrix: the sum of each pixel of the neighbourhood times its number, plus bias.
--
-- top, middle and bottom are the matrix's rows as they lie on the picture: top[1] weighs the pixel above to the left.
-- Encoded values, straight alpha, which is kept. Numbers: -16…16; bias: -1…1. The numbers are not scaled: they sum to 1 where
-- the picture's brightness shall stay.
return kernel {
  summary = "Weighs each pixel's neighbourhood with a 3x3 matrix.",
  params = {
    top = { { 0, 0, 0 }, min = -16, max = 16, neutral = { 0, 0, 0 }, label = "Row above" },
    middle = { { 0, 1, 0 }, min = -16, max = 16, neutral = { 0, 1, 0 }, label = "Row" },
    bottom = { { 0, 0, 0 }, min = -16, max = 16, neutral = { 0, 0, 0 }, label = "Row below" },
    bias = { 0, min = -1, max = 1, neutral = 0, label = "Bias" },
  },
  sample = function(src, pos, p)
    local function row(y, weights)
      return src:at(-1, y).rgb * weights.x + src:at(0, y).rgb * weights.y + src:at(1, y).rgb * weights.z
    end
    return vec4(row(-1, p.top) + row(0, p.middle) + row(1, p.bottom) + p.bias, src:at(0, 0).a)
  end,
}
