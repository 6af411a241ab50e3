-- What the keys share. `require "library.key"`.
local key = {}

-- Cb and Cr of a colour, BT.601 weights, each -1/2…1/2 for colours within 0…1.
function key.chroma(rgb)
  local y = dot(rgb, vec3(0.299, 0.587, 0.114))
  return vec2((rgb.b - y) / 1.772, (rgb.r - y) / 1.402)
end

-- 0 up to `from`, 1 from `from + softness` on.
function key.ramp(x, from, softness) return smoothstep(from, from + max(softness, 0.0001), x) end

-- The picture with its alpha times `keep`, over the background. Premultiplied.
function key.over(image, background, keep)
  local front = image * keep
  return front + background * (1 - front.a)
end

-- Straight colour of a premultiplied one.
function key.straight(c) return c.rgb / max(c.a, 0.0001) end

return key
