-- Kuwahara's filter. `require "library.kuwahara"`.
local kuwahara = {}

-- The mean of that quadrant around the pixel, (radius + 1)^2 pixels each, whose colours vary least.
function kuwahara.smooth(src, radius)
  -- Sums of c and c^2 over the half rows left and right of each row, then over the rows above and below.
  local function half(dy, from, to)
    local sum, squares
    for dx = from, to do
      local c = src:at(dx, dy).rgb
      sum = sum and sum + c or c
      squares = squares and squares + c * c or c * c
    end
    return sum, squares
  end
  local best, least
  local count = (radius + 1) * (radius + 1)
  for _, x in ipairs { { -radius, 0 }, { 0, radius } } do
    for _, y in ipairs { { -radius, 0 }, { 0, radius } } do
      local sum, squares
      for dy = y[1], y[2] do
        local s, q = half(dy, x[1], x[2])
        sum = sum and sum + s or s
        squares = squares and squares + q or q
      end
      local mean = sum / count
      local variance = dot(abs(squares / count - mean * mean), vec3(1))
      if not best then
        best, least = mean, variance
      else
        local isLess = lt(variance, least)
        best, least = select(isLess, mean, best), select(isLess, variance, least)
      end
    end
  end
  return best
end

return kuwahara
