-- graphs/overlay.lua: a picture over a camera, moved and sized on air, and a zoom that follows the keys as it would a pinch.
--   patchbay run graphs/overlay.lua --bind cam=camera --bind picture=logo.png
-- Keys: the arrows move the picture, page up and down size it, = and - zoom the camera, 0 takes the zoom back.
graph { size = "1280x720", fps = 30 }

local cam     = input { "cam", default = "host" }
local picture = input { "picture", default = "landscape" }

local zoom  = filter.zoom { "zoom", factor = 1.35, center = { 0.5, 0.47 } }
local inset = require "looks.inset" { "inset", x = 836, y = 428, width = 400, height = 225 }

cam >> zoom >> inset.image
picture >> inset.overlay
inset >> display { "view", title = "Patchbay: overlay" }

local steps = { left = { -20, 0 }, right = { 20, 0 }, up = { 0, -20 }, down = { 0, 20 } }
for key, step in pairs(steps) do
  onKey(key, function()
    inset:ramp("x", inset.x + step[1], 0.15, "easeOut")
    inset:ramp("y", inset.y + step[2], 0.15, "easeOut")
  end)
end
local function size(times)
  inset:ramp("width", inset.width * times, 0.2, "easeOut")
  inset:ramp("height", inset.height * times, 0.2, "easeOut")
end
onKey("pageup", function() size(1.1) end)
onKey("pagedown", function() size(1 / 1.1) end)

-- GPUImage's rule for a pinch: the faster it is, the less each step adds.
local factor, most = 1.35, 6
local function pinch(velocity)
  factor = math.max(1, math.min(most, factor + math.atan(velocity, 15)))
  zoom:ramp("factor", factor, 0.2, "easeOut")
end
onKey("=", function() pinch(2) end)
onKey("-", function() pinch(-2) end)
onKey("0", function() factor = 1 zoom:ramp("factor", 1, 0.4, "easeInOut") end)
