-- Squares of equal colour, for filters that draw in cells. `require "library.cells"`.
local cells = {}

-- The centre, in uv, of the square that this pixel lies in. side: in widths of the picture. As in GPUImage the squares
-- begin at the top left corner, so those at the right and bottom may be cut.
function cells.center(side)
  local shape = size / size.x
  return (floor(uv * shape / side) + 0.5) * side / shape
end

-- How far this pixel is from the centre of its square, in widths.
function cells.away(side) return length((uv - cells.center(side)) * size / size.x) end

return cells
