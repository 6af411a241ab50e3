-- Sobel's edge strength in the form that GPUImage's drawing filters use. `require "library.edges"`.
local edges = {}

-- sqrt(gx^2 + gy^2) of grey(colour) around the pixel; 3x3, weights 1 2 1, not divided.
function edges.sobel(src, grey)
  local function at(x, y) return grey(src:at(x, y)) end
  local across = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1)
  local down = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1)
  return length(vec2(across, down))
end

return edges
