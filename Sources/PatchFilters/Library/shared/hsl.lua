-- Hue, saturation and lightness in the ways that the field uses them. `require "library.hsl"`.
local hsl = {}

-- Luma weights: GPUImage's for its luminance filters (BT.709), and those of W3C's blend modes (BT.601, rounded).
hsl.weights = { 0.2125, 0.7154, 0.0721 }

-- GPUImage's luminance of a colour.
function hsl.luminance(rgb) return dot(rgb, vec3(0.2125, 0.7154, 0.0721)) end

local function most(c) return max(c.r, max(c.g, c.b)) end
local function least(c) return min(c.r, min(c.g, c.b)) end
hsl.most, hsl.least = most, least

-- HSV, each 0…1; hue 0 is red, 1/3 green, 2/3 blue. Greys have hue 0 and saturation 0.
function hsl.toHSV(rgb)
  local high, low = most(rgb), least(rgb)
  local span = high - low
  local safe = max(span, 0.00001)
  local sector = select(eq(high, rgb.r), (rgb.g - rgb.b) / safe,
    select(eq(high, rgb.g), 2 + (rgb.b - rgb.r) / safe, 4 + (rgb.r - rgb.g) / safe))
  return vec3(fract(sector / 6), span / max(high, 0.00001), high)
end

function hsl.fromHSV(hsv)
  -- Each channel is a trapezium over the colour circle, a third apart.
  local hue = fract(vec3(hsv.x) + vec3(1, 2 / 3, 1 / 3)) * 6
  local wave = clamp(abs(hue - 3) - 1, 0, 1)
  return hsv.z * mix(vec3(1), wave, hsv.y)
end

-- W3C Compositing and Blending, "Non-separable blend modes".
function hsl.lum(c) return dot(c, vec3(0.3, 0.59, 0.11)) end
function hsl.sat(c) return most(c) - least(c) end

-- Brings a colour back into 0…1 along the line to its grey.
function hsl.clipColor(c)
  local l, n, x = hsl.lum(c), least(c), most(c)
  local up = select(lt(n, 0), l + (c - l) * (l / max(l - n, 0.00001)), c)
  return select(gt(x, 1), l + (up - l) * ((1 - l) / max(x - l, 0.00001)), up)
end

function hsl.setLum(c, l) return hsl.clipColor(c + (l - hsl.lum(c))) end

-- Stretches the channels so that the least is 0 and the most is s.
function hsl.setSat(c, s)
  local low, high = least(c), most(c)
  return (c - low) * (s / max(high - low, 0.00001))
end

return hsl
