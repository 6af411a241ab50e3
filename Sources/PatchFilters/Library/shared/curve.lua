-- Tone curves through a few points. `require "library.curve"`.
--
-- The curve is the natural cubic spline: second derivatives are 0 at both ends; left of the first point and right of the
-- last one it stays level. All of it but the last step depends only on parameters, so it is computed once a frame.
local curve = {}

-- Second derivatives m[i] at the points: (h[i-1] m[i-1] + 2 (h[i-1] + h[i]) m[i] + h[i] m[i+1]) = 6 (slope[i] -
-- slope[i-1]).
local function secondDerivatives(x, y)
  local n, h, slope = #x, {}, {}
  for i = 1, n - 1 do
    h[i] = max(x[i + 1] - x[i], 0.001)
    slope[i] = (y[i + 1] - y[i]) / h[i]
  end
  -- Thomas's algorithm: one sweep down, one up.
  local upper, right = {}, {}
  for i = 2, n - 1 do
    local a, b = h[i - 1], 2 * (h[i - 1] + h[i])
    local before = i > 2
    local pivot = before and b - a * upper[i - 1] or b
    local rest = 6 * (slope[i] - slope[i - 1])
    upper[i] = h[i] / pivot
    right[i] = (before and rest - a * right[i - 1] or rest) / pivot
  end
  local m = {}
  for i = n - 1, 2, -1 do m[i] = i == n - 1 and right[i] or right[i] - upper[i] * m[i + 1] end
  return m, h
end

-- The value at v (a float or vector); x, y: tables of as many floats, x ascending.
function curve.spline(v, x, y)
  local m, h = secondDerivatives(x, y)
  local n = #x
  local inside = clamp(v, x[1], x[n])
  local result
  for i = 1, n - 1 do
    local t = (inside - x[i]) / h[i]
    local u = 1 - t
    local part = u * y[i] + t * y[i + 1]
    local bend = h[i] * h[i] / 6
    if m[i] then part = part + bend * m[i] * (u * u * u - u) end
    if m[i + 1] then part = part + bend * m[i + 1] * (t * t * t - t) end
    result = result and select(ge(inside, x[i]), part, result) or part
  end
  return result
end

return curve
