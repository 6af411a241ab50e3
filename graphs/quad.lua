-- graphs/quad.lua: four cameras in one picture, each with its name; one of them large when it matters.
--   patchbay run graphs/quad.lua --bind cam=camera --bind guest=rtmp://host/live/guest
-- Keys: 1 to 4 put a camera in front, 0 goes back to four of a size.
graph { size = "1280x720", fps = 30 }
local bold = "Noto Sans, DejaVu Sans Bold"

local cameras = {
  { name = "host",   title = "Studio",    source = input { "cam", default = "host" } },
  { name = "guest",  title = "Guest",     source = input { "guest", default = "guest" } },
  { name = "place",  title = "Outside",   source = input { "place", default = "landscape" } },
  { name = "second", title = "Camera 2",  source = input { "second", default = "greenscreen" } },
}

local mix = mixer { "mix", size = "1280x720", fill = "#10131c" }
local front
local slots = {}
for i, camera in ipairs(cameras) do
  local tag = text {
    camera.name .. " words", string = camera.title, size = 46, font = bold, background = "#0b1020b8",
    padding = 16, cornerRadius = 12,
  }
  local named = require "looks.place" { camera.name .. " tag", position = { 0.03, 0.95 }, anchor = { 0, 1 } }
  camera.source >> named
  tag >> named.picture
  mix.slots[camera.name] = { source = named, aspect = "fill", z = i, cornerRadius = 14 }
  slots[i] = camera.name
end

local function arrange(seconds)
  local order = {}
  for i, name in ipairs(slots) do
    if name == front then table.insert(order, 1, name) else order[#order + 1] = name end
  end
  mix:layout(front and "spotlight" or "grid", { gap = 12, seconds = seconds, easing = "easeInOut", slots = order })
end
arrange(0)

mix >> display { "view", title = "Patchbay: four cameras" }

for i, camera in ipairs(cameras) do
  onKey(tostring(i), function() front = camera.name arrange(0.5) end)
end
onKey("0", function() front = nil arrange(0.5) end)
