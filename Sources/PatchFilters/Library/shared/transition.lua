-- The frame of a transition. `require "library.transition"`.
--
-- A transition has the inputs `from` and `to` and the parameter `progress`, 0…1: at 0 it shows exactly `from` (which
-- is also its neutral value), at 1 exactly `to`. Colour is encoded and premultiplied: see-through pictures fade as
-- they should.
local transition = {}

-- The table of a transition for kernel{ … }; the given one adds params, pixel or sample, inputs.
function transition.frame(table)
  table.inputs = table.inputs or { "from", "to" }
  table.alpha = "premultiplied"
  -- It only weighs colours, so that it works on video as it is; one that looks at them says otherwise.
  table.space = table.space or "any"
  table.keepsAlpha = false
  -- At its ends nothing is computed, nor what feeds only the other picture.
  table.ends = "progress"
  table.params = table.params or {}
  table.params.progress = { 0, min = 0, max = 1, neutral = 0, label = "Progress" }
  return table
end

-- How much of `to` shows at a place that the front reaches at `when`, 0…1 of the way, with a soft edge as wide as
-- `softness` of the way: 0 everywhere at progress 0, 1 everywhere at progress 1.
function transition.reached(when, progress, softness)
  local soft = max(softness, 0.0001)
  return clamp((progress * (1 + soft) - clamp(when, 0, 1)) / soft, 0, 1)
end

-- Position along a direction, 0…1 over the picture; 0 degrees goes to the right, 90 down. In pixels' own shape.
function transition.along(angle)
  local direction = vec2(cos(radians(angle)), sin(radians(angle)))
  local shape = size / size.y
  local reach = abs(direction.x) * shape.x + abs(direction.y) * shape.y
  return dot((uv - 0.5) * shape, direction) / reach + 0.5
end

-- A vector that moves a picture right out of the frame in that direction, in uv.
function transition.away(angle)
  local direction = vec2(cos(radians(angle)), sin(radians(angle)))
  return direction / max(max(abs(direction.x), abs(direction.y)), 0.0001)
end

return transition
