-- A 4 × 4 matrix on (r, g, b, a), mixed in by intensity, as GPUImage's. Encoded values. The last row is alpha's, so alpha
-- changes when that row is not (0, 0, 0, 1); it is kept within 0…1.
-- red, green, blue, alpha: the rows, each entry -4…4; intensity: 0…1, neutral 0.
return kernel {
  summary = "Mixes the channels with a matrix.",
  keepsAlpha = false,
  params = {
    red = { { 1, 0, 0, 0 }, min = -4, max = 4, neutral = { 1, 0, 0, 0 }, label = "Red row" },
    green = { { 0, 1, 0, 0 }, min = -4, max = 4, neutral = { 0, 1, 0, 0 }, label = "Green row" },
    blue = { { 0, 0, 1, 0 }, min = -4, max = 4, neutral = { 0, 0, 1, 0 }, label = "Blue row" },
    alpha = { { 0, 0, 0, 1 }, min = -4, max = 4, neutral = { 0, 0, 0, 1 }, label = "Alpha row" },
    intensity = { 1, min = 0, max = 1, neutral = 0, label = "Intensity" },
  },
  pixel = function(c, p)
    local mixed = vec4(dot(c, p.red), dot(c, p.green), dot(c, p.blue), clamp(dot(c, p.alpha), 0, 1))
    return mix(c, mixed, p.intensity)
  end,
}
