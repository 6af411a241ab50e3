-- The stages of Canny's edge detection, shared by canny, houghLines and beautify; adaptiveThreshold takes the luma.
--
-- Canny decides by comparing neighbours, and a half float's 11 bits are too few to decide as exact numbers would. So the passes
-- up to the thinning keep 32-bit floats (`floats = true`).
local steps = {}

-- Luma of encoded values.
function steps.luma(c) return vec4(dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))) end

-- A Gaussian of p.sigma over nine pixels, along (dx, dy).
function steps.blur(dx, dy)
  return function(src, _, p)
    local sum, total
    for i = -4, 4 do
      local weight = exp(-i * i / (2 * p.sigma * p.sigma))
      local part = src:at(i * dx, i * dy).r * weight
      sum, total = sum and sum + part or part, total and total + weight or weight
    end
    return vec4(sum / total)
  end
end

-- The gradient of a luma around a pixel, across and down, by Sobel.
local function gradient(src)
  local function at(x, y) return src:at(x, y).r end
  local nw, n, ne = at(-1, -1), at(0, -1), at(1, -1)
  local w, e = at(-1, 0), at(1, 0)
  local sw, s, se = at(-1, 1), at(0, 1), at(1, 1)
  return ne + 2 * e + se - nw - 2 * w - sw, sw + 2 * s + se - nw - 2 * n - ne
end

-- The square of the gradient's length: it compares as the length does, and takes no root.
function steps.strength(src)
  local gx, gy = gradient(src)
  return vec4(gx * gx + gy * gy)
end

-- Keeps a pixel whose gradient is no weaker than its two neighbours' along the gradient. A direction counts as along an axis when its
-- other component is below sin(22.5 degrees). It is found again from the luma: to store it would cost more.
function steps.thin(strength, blurred, lower, upper)
  local function at(x, y) return strength:at(x, y).r end
  local here, gx, gy = at(0, 0), gradient(blurred)
  local across, down = max(at(-1, 0), at(1, 0)), max(at(0, -1), at(0, 1))
  local falling, rising = max(at(-1, -1), at(1, 1)), max(at(-1, 1), at(1, -1))
  local least = 0.146447 * here
  local diagonal = select(gt(gx * gy, 0), falling, rising)
  local neighbour = select(lt(gy * gy, least), across, select(lt(gx * gx, least), down, diagonal))
  return vec4(select(ge(here, neighbour), smoothstep(lower, upper, sqrt(here)), 0))
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
