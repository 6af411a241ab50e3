-- The beautify filter of GPUImage's demo: smooth skin, crisp edges, a light tone curve, a little more of everything.
--
-- bilateral: 9 taps, 4 texels apart, vertical then horizontal; each weighs 1 - min(4 * distance of colours, 1).
-- canny: luma, Gaussian (sigma 2, radius 4), directional Sobel, non-maximum suppression with smoothstep(0.1, 0.4), weak
-- pixels joined.
-- combination: where there is skin and no edge, (1 - smooth)(original - bilateral) + bilateral, elsewhere the original;
-- then log(1 + 0.2 x) / log(1.2) everywhere. Last, brightness and saturation (weights .30 .59 .11).
--
-- Encoded values, straight alpha, which is kept; the tone curve takes 0…2, beyond which it stays. smooth: 0…1; brightness and
-- saturation: 0…2. No neutral value: the tone curve always acts. Two oddities are the original's and stay: the bilateral's taps
-- are texels of the frame, so the look depends on the resolution; and the skin test never asks which of red and green is greater.
local steps = require "library.steps"

local weights = { 0.05, 0.09, 0.12, 0.15, 0.18, 0.15, 0.12, 0.09, 0.05 }

-- max(w - 4wd, 0) is w(1 - min(4d, 1)).
local function bilateral(src, dx, dy)
  local centre = src:at(0, 0).rgb
  local sum, total = centre * weights[5], weights[5]
  for i = -4, 4 do
    if i ~= 0 then
      local tap = src:at(4 * i * dx, 4 * i * dy).rgb
      local away = fastSqrt(dot(centre - tap, centre - tap))
      local weight = max(weights[i + 5] - 4 * weights[i + 5] * away, 0)
      sum, total = sum + tap * weight, total + weight
    end
  end
  return sum * (1 / total)
end

-- Only skin is smoothed: where no pixel of a run may be skin, nothing is computed. The limits are a little wider than skin's below.
local function mayBeSkin(c)
  return vec4(select(gt(c.r, 0.3685) & gt(c.r, c.b - 0.004) & gt(abs(c.r - c.g), 0.0548), 1, 0))
end

-- The bilateral down is needed where the one across reads it: around skin, and in the outermost columns, which stand for all beyond.
local function vertical(straight, skin)
  local near
  for i = -4, 4 do
    local part = skin:at(4 * i, 0).r
    near = near and max(near, part) or part
  end
  local isNeeded = gt(near, 0.5) | lt(pos.x, 0.75) | gt(pos.x, size.x - 1.25)
  return vec4(select(isNeeded, bilateral(straight, 0, 1), 0), 1)
end

local function smoothed(vertical, skin)
  return vec4(select(gt(skin:at(0, 0).r, 0.5), bilateral(vertical, 1, 0), 0), 1)
end

local gauss, gaussSum = {}, 0
for i = -4, 4 do
  gauss[i] = exp(-i * i / 8)
  gaussSum = gaussSum + gauss[i]
end

local function blur(dx, dy)
  return function(src)
    local sum
    for i = -4, 4 do
      local part = src:at(i * dx, i * dy).r * (gauss[i] / gaussSum)
      sum = sum and sum + part or part
    end
    return vec4(sum)
  end
end

local function combine(smoothed, thin, source, _, p)
  local image, smooth = source:at(0, 0), smoothed:at(0, 0)
  local r, g, b = image.r, image.g, image.b
  -- Of colours whose red is above their blue.
  local most, least = max(r, g), min(g, b)
  local isSkin = ~steps.isEdge(thin) & gt(r, 0.3725) & gt(g, 0.1568) & gt(b, 0.0784) & gt(r, b)
    & gt(most - least, 0.0588) & gt(abs(r - g), 0.0588)
  local skin = (1 - p.smooth) * (image.rgb - smooth.rgb) + smooth.rgb
  local rgb = select(isSkin, skin, image.rgb)
  rgb = log(1 + 0.2 * clamp(rgb, 0, 2)) * (p.brightness / log(1.2))
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
    { name = "straight", channels = 3, pixel = function(c) return c end },
    { name = "skin", inputs = { "image" }, channels = 1, pixel = mayBeSkin },
    { name = "vertical", inputs = { "straight", "skin" }, channels = 3, sample = vertical },
    { name = "smoothed", inputs = { "vertical", "skin" }, channels = 3, sample = smoothed },
    { name = "luma", inputs = { "image" }, channels = 1, floats = true, pixel = steps.luma },
    { name = "lumaVertical", channels = 1, floats = true, sample = blur(0, 1) },
    { name = "lumaBlurred", channels = 1, floats = true, sample = blur(1, 0) },
    { name = "strength", channels = 1, floats = true, sample = steps.strength },
    { name = "thin", inputs = { "strength", "lumaBlurred" }, channels = 1, sample = function(strength, blurred)
      return steps.thin(strength, blurred, 0.1, 0.4)
    end },
    { name = "result", inputs = { "smoothed", "thin", "image" }, sample = combine },
  },
}
