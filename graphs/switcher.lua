-- graphs/switcher.lua: three cameras and a mixer's keys: 1, 2 and 3 put a camera on air, t chooses how, s does it with a
-- stinger.
--   patchbay run graphs/switcher.lua --bind cam=camera --bind two=rtmp://host/live/two --bind three=pitch.mp4
graph { size = "1280x720", fps = 30 }

local cams = {
  input { "cam", default = "host" }, input { "two", default = "guest" }, input { "three", default = "landscape" },
}
local styles = { "fade", "wipe", "push", "zoom", "iris" }
local changes = {
  fade = transition.fade { "fade" },
  wipe = transition.wipe { "wipe", angle = 20, softness = 0.03 },
  push = transition.push { "push" },
  zoom = transition.zoom { "zoom" },
  iris = transition.iris { "iris" },
}
local sting = require "looks.stinger" { "sting", video = "assets/swoosh.mov", cut = 0.4 }
local style = choice { "style", "wipe", options = styles, label = "Transition" }
local length = param { "length", 0.8, min = 0.1, max = 5, unit = "s", label = "Length" }
local view = display { "view", title = "Patchbay: switcher" }

state.onAir = state.onAir or 1
local shown = cams[state.onAir]            -- what feeds the view: a camera, a transition or the stinger
shown >> view

-- Lets `node` feed the view, beginning with the camera that is on air; all of it is one edit.
local function put(node, from)
  for _, cam in ipairs(cams) do cam:removeTarget(node) end
  cams[state.onAir] >> from
  shown:removeTarget(view)
  node >> view
  shown = node
end

-- A transition goes on from what is seen now, also when it is interrupted.
local function take(number)
  local change = changes[style.value]
  if shown ~= change then
    put(change, change.from)
    change.progress = 0
  end
  change:switchTo(cams[number], length.value, "easeInOut")
  state.onAir = number
end

local function stinger()
  local next = state.onAir % #cams + 1
  put(sting.output, sting.from)
  cams[next] >> sting.to
  sting.play()
  state.onAir = next
end

for number in ipairs(cams) do onKey(tostring(number), function() take(number) end) end
onKey("s", stinger)
onKey("t", function()
  for index, name in ipairs(styles) do
    if name == style.value then style.value = styles[index % #styles + 1] return end
  end
end)

-- At its first start it shows what it can.
if not state.started then
  state.started = true
  after(0.6, function() take(2) end)
end
