-- The beautify filter of GPUImage's demo: smooth skin, crisp edges, a light tone curve, a little more of everything.
--
-- bilateral: 9 taps, 4 texels apart, vertical then horizontal; each weighs 1 - min(4 * distance of colours, 1).
-- canny: luma, Gaussian (sigma 2, radius 4), directional Sobel, non-maximum suppression with smoothstep(0.1, 0.4), weak
-- pixels joined.
-- combination: where there is skin and no edge, (1 - smooth)(original - bilateral) + bilateral, elsewhere the original;
-- then log(1 + 0.2 x) / log(1.2) everywhere. Last, brightness and saturation (weights .30 .59 .11).
--
-- Encoded values, straight alpha, which is kept. smooth: 0…1; brightness and saturation: 0…2. No neutral value: the tone
-- curve always acts. Two oddities are the original's and stay: the bilateral's taps are texels of the frame, so the look
-- depends on the resolution; and the skin test never asks which of red and green is greater.
local weights = { 0.05, 0.09, 0.12, 0.15, 0.18, 0.15, 0.12, 0.09, 0.05 }

local function bilateral(dx, dy)
  return function(src)
    local centre = src:at(0, 0)
    local sum, total = centre * weights[5], weights[5]
    for i = -4, 4 do
      if i ~= 0 then
        local tap = src:at(4 * i * dx, 4 * i * dy)
        local weight = weights[i + 5] * (1 - min(distance(centre, tap) * 4, 1))
        sum, total = sum + tap * weight, total + weight
      end
    end
    return sum / total
  end
end

local gauss, gaussSum = {}, 0
for i = -4, 4 do
  gauss[i] = exp(-i * i / 8)
  gaussSum = gaussSum + gauss[i]
end

local function blur(src, dx, dy)
  local sum
  for i = -4, 4 do
    local part = src:at(i * dx, i * dy) * (gauss[i] / gaussSum)
    sum = sum and sum + part or part
  end
  return sum
end

-- The gradient's length, and its direction in steps of 45 degrees, from -1…1 to 0…1.
local function gradient(src)
  local function at(x, y) return src:at(x, y).r end
  local gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1)
  local gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1)
  local g = vec2(gx, gy)
  local magnitude = length(g)
  local direction = g / max(magnitude, 0.000001)
  -- 1 - sin(22.5 degrees): nearer to an axis than that counts as on it.
  local steps = sign(direction) * floor(abs(direction) + 0.617316)
  return vec4(magnitude, steps * 0.5 + 0.5, 1)
end

-- Keeps a pixel that is no weaker than its two neighbours along the gradient.
local function thin(src)
  local here = src:at(0, 0)
  local dx, dy = here.g * 2 - 1, here.b * 2 - 1
  local first, second = here.r, here.r
  for y = -1, 1 do
    for x = -1, 1 do
      if x ~= 0 or y ~= 0 then
        local along = eq(dx, x) & eq(dy, y)
        first = select(along, src:at(x, y).r, first)
        second = select(along, src:at(-x, -y).r, second)
      end
    end
  end
  local kept = step(first, here.r) * step(second, here.r) * smoothstep(0.1, 0.4, here.r)
  return vec4(vec3(kept), 1)
end

local function joinWeak(src)
  local sum
  for y = -1, 1 do
    for x = -1, 1 do
      local part = src:at(x, y).r
      sum = sum and sum + part or part
    end
  end
  return vec4(vec3(step(1.5, sum) * step(0.01, src:at(0, 0).r)), 1)
end

local function combine(smooth, edges, image, p)
  local r, g, b = image.r, image.g, image.b
  local most, least = max(r, max(g, b)), min(r, min(g, b))
  local isSkin = lt(edges.r, 0.2) & gt(r, 0.3725) & gt(g, 0.1568) & gt(b, 0.0784) & gt(r, b)
    & gt(most - least, 0.0588) & gt(abs(r - g), 0.0588)
  local skin = (1 - p.smooth) * (image.rgb - smooth.rgb) + smooth.rgb
  local rgb = select(isSkin, skin, image.rgb)
  rgb = log(1 + 0.2 * max(rgb, 0)) / log(1.2)
  rgb = rgb * p.brightness
  local grey = dot(rgb, vec3(0.30, 0.59, 0.11))
  return vec4(grey + (rgb - grey) * p.saturation, image.a)
end

return kernel {
  summary = "Smooth skin, crisp edges and a lighter tone, as in GPUImage's demo.",
  params = {
    smooth = { 0.5, min = 0, max = 1, label = "Skin smoothing" },
    brightness = { 1.1, min = 0, max = 2, label = "Brightness" },
    saturation = { 1.1, min = 0, max = 2, label = "Saturation" },
  },
  passes = {
    { name = "vertical", inputs = { "image" }, sample = bilateral(0, 1) },
    { name = "smoothed", sample = bilateral(1, 0) },
    { name = "lumaVertical", inputs = { "image" }, sample = function(src)
      return vec4(vec3(dot(blur(src, 0, 1).rgb, vec3(0.2125, 0.7154, 0.0721))), 1)
    end },
    { name = "luma", sample = function(src) return vec4(blur(src, 1, 0).rrr, 1) end },
    { name = "gradient", sample = gradient },
    { name = "thin", sample = thin },
    { name = "edges", sample = joinWeak },
    { name = "result", inputs = { "smoothed", "edges", "image" }, pixel = combine },
  },
}
