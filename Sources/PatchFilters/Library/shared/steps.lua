-- The stages of Canny's edge detection, shared by canny, houghLines and beautify.
--
-- Canny decides by comparing neighbours, and a half float's 11 bits are too few to decide as exact numbers would. So numbers
-- are stored in two channels: whole steps, and what is left of the last step.
local steps = {}

function steps.split(x, count)
  local whole = floor(x * count)
  return vec4(whole / count, x * count - whole, 0, 1)
end

function steps.join(c, count) return c.r + c.g / count end

-- A Gaussian of p.sigma over nine pixels, along (dx, dy), of a luma in 1/1024.
function steps.blur(dx, dy)
  return function(src, _, p)
    local sum, total
    for i = -4, 4 do
      local weight = exp(-i * i / (2 * p.sigma * p.sigma))
      local part = steps.join(src:at(i * dx, i * dy), 1024) * weight
      sum, total = sum and sum + part or part, total and total + weight or weight
    end
    return steps.split(sum / total, 1024)
  end
end

-- The gradient of a blurred luma in 1/1024: its length in 1/256, and in blue the axis it lies along: 0 across, 1 up and down,
-- 2 and 3 the diagonals. A direction counts as along an axis when its other component is below sin(22.5 degrees).
function steps.gradient(src)
  local function at(x, y) return steps.join(src:at(x, y), 1024) end
  local nw, n, ne = at(-1, -1), at(0, -1), at(1, -1)
  local w, e = at(-1, 0), at(1, 0)
  local sw, s, se = at(-1, 1), at(0, 1), at(1, 1)
  local gx = ne + 2 * e + se - nw - 2 * w - sw
  local gy = sw + 2 * s + se - nw - 2 * n - ne
  local magnitude = length(vec2(gx, gy))
  local least = 0.382684 * magnitude
  local diagonal = select(gt(gx * gy, 0), 2.0, 3.0)
  local axis = select(lt(abs(gy), least), 0.0, select(lt(abs(gx), least), 1.0, diagonal))
  return vec4(steps.split(magnitude, 256).rg, axis, 1)
end

-- Keeps a pixel that is no weaker than its two neighbours along the gradient.
function steps.thin(src, lower, upper)
  local function at(x, y) return steps.join(src:at(x, y), 256) end
  local here, axis = at(0, 0), src:at(0, 0).b
  local across, down = max(at(-1, 0), at(1, 0)), max(at(0, -1), at(0, 1))
  local falling, rising = max(at(-1, -1), at(1, 1)), max(at(-1, 1), at(1, -1))
  local straight = select(lt(axis, 0.5), across, down)
  local neighbour = select(lt(axis, 1.5), straight, select(lt(axis, 2.5), falling, rising))
  return vec4(select(ge(here, neighbour), smoothstep(lower, upper, here), 0))
end

-- A pixel that survived is an edge when there is enough around it.
function steps.isEdge(thin)
  local sum
  for y = -1, 1 do
    for x = -1, 1 do
      local part = thin:at(x, y).r
      sum = sum and sum + part or part
    end
  end
  return ge(sum, 1.5) & ge(thin:at(0, 0).r, 0.01)
end

return steps
