-- Sobel's gradient of the red channel: its length in red, its direction in green (x) and blue (y), where each is -1, 0 or 1
-- shown as 0, .5 and 1. The first stage of canny; the input is usually grey and blurred.
--
-- Direction: sign(d) * floor(|d| + .617316) of the gradient d of length 1: below sin(22.5 degrees) counts as 0. y points down.
-- Encoded values, straight alpha, which is kept. No parameters.
return kernel {
  summary = "Gradient length and direction, for Canny's next stages.",
  sample = function(src)
    local function at(x, y) return src:at(x, y).r end
    local gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1)
    local gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1)
    local magnitude = length(vec2(gx, gy))
    local direction = vec2(gx, gy) / max(magnitude, 0.000001)
    local steps = sign(direction) * floor(abs(direction) + 0.617316)
    return vec4(magnitude, steps * 0.5 + 0.5, src:at(0, 0).a)
  end,
}
