-- graphs/tour.lua: the looks of graphs/looks, one after the other: the keys 1 to 5 choose, space goes on.
--   patchbay run graphs/tour.lua --bind cam=clip.mp4
local names = { "warm", "tealOrange", "bleach", "oldFilm", "glow" }
local looks = {}
for _, name in ipairs(names) do looks[name] = require("looks." .. name) { name } end

local cam  = input   { "cam", size = "1280x720", fps = 30, default = "camera" }
local view = display { "view", title = "Patchbay: a tour of looks" }
local raw  = rawDataOutput { "raw", size = "640x360" }
local pick = choice  { "look", "warm", options = names, label = "Look" }

local function wire(name)
  cam:removeAllTargets()
  for _, look in pairs(looks) do look:removeAllTargets() end
  cam:addTarget(looks[name])
  looks[name]:addTarget(view); looks[name]:addTarget(raw)
  log("look: " .. name)
end
wire(pick.value)
pick:onChange(wire)

local function number(name)
  for i, other in ipairs(names) do if other == name then return i end end
end
for i, name in ipairs(names) do onKey(tostring(i), function() pick.value = name end) end
onKey("space", function() pick.value = names[number(pick.value) % #names + 1] end)
