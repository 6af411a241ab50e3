-- graphs/overlay.lua: a picture over a camera, moved and sized on air, and a zoom that follows the keys as it would a pinch.
--   patchbay run graphs/overlay.lua --bind cam=camera --bind picture=logo.png
-- Keys: the arrows move the picture, page up and down size it, = and - zoom the camera, 0 takes the zoom back.
graph { size = "1280x720", fps = 30 }

local cam     = input { "cam", default = "host" }
local picture = input { "picture", default = "landscape" }

local zoom  = filter.zoom { "zoom", factor = 1.35, center = { 0.5, 0.47 } }
local round   = filter.roundCorners { "round", radius = 0.08 }
local over    = overlay { "over", x = 836, y = 428, width = 400, height = 225 }      -- pixels of the frame

cam >> zoom >> over
picture >> round >> over.overlay
over >> display { "view", title = "Patchbay: overlay" }

local steps = { left = { -20, 0 }, right = { 20, 0 }, up = { 0, -20 }, down = { 0, 20 } }
for key, step in pairs(steps) do
  onKey(key, function()
    over:ramp("x", over.x + step[1], 0.15, "easeOut")
    over:ramp("y", over.y + step[2], 0.15, "easeOut")
  end)
end
local function size(times)
  over:ramp("width", over.width * times, 0.2, "easeOut")
  over:ramp("height", over.height * times, 0.2, "easeOut")
end
onKey("pageup", function() size(1.1) end)
onKey("pagedown", function() size(1 / 1.1) end)

-- GPUImage's rule for a pinch: the faster it is, the less each step adds.
onKey("=", function() zoom:pinch(4) end)
onKey("-", function() zoom:pinch(-4) end)
onKey("0", function() zoom:ramp("factor", 1, 0.4, "easeInOut") end)
