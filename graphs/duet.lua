-- graphs/duet.lua: two people in one picture, each cut upright around the face, with a seam that the operator moves.
--   patchbay run graphs/duet.lua --bind cam=camera --bind guest=rtmp://host/live/guest
-- Keys: left and right give one of them more room, space evens it out.
graph { size = "1280x720", fps = 30 }

local cam   = input { "cam", default = "host" }
local guest = input { "guest", default = "guest" }
local seam  = param { "seam", 0.5, min = 0.25, max = 0.75, step = 0.05, label = "Seam" }
local close = param { "close", 1.12, min = 1, max = 3, label = "How close" }

-- Each slot shows the upright middle of its picture, cut to the slot's shape; nothing is squeezed. The canvas shows between.
local mix, gap = mixer { "duet", size = "1280x720", fill = "#f4f0e6" }, 8

local function crop()
  local part = 1 / close.value
  return { 0.5 - part / 2, math.max(0, 0.48 - part / 2), part, part }
end
local function places()
  local left = math.floor(1280 * seam.value / 2) * 2 - gap // 2
  return { position = { 0, 0 }, size = { left, 720 }, crop = crop() },
    { position = { left + gap, 0 }, size = { 1280 - left - gap, 720 }, crop = crop() }
end
local function arrange(seconds)
  local left, right = places()
  mix:transition("left", left, seconds, "easeOut")
  mix:transition("right", right, seconds, "easeOut")
end
mix.slots.left  = { source = cam, aspect = "fill" }
mix.slots.right = { source = guest, aspect = "fill" }
arrange(0)
seam:onChange(function() arrange(0.2) end)
close:onChange(function() arrange(0.2) end)

mix >> filter.vignette { "frame", amount = 0.35, start = 0.5, finish = 1 } >> display { "view", title = "Patchbay: duet" }

onKey("left",  function() seam.value = math.max(0.25, seam.value - 0.05) end)
onKey("right", function() seam.value = math.min(0.75, seam.value + 0.05) end)
onKey("space", function() seam.value = 0.5 end)
