-- graphs/replay.lua: instant replay. Space shows the last four seconds at half speed, f freezes and goes on.
--   patchbay run graphs/replay.lua --bind cam=camera
graph { size = "1280x720", fps = 30 }

local cam    = input  { "cam", default = "guest" }
local freeze = toggle { "freeze", false, label = "Freeze" }
local memory = replay { "memory", seconds = 5, frozen = freeze }
local again  = button { "again", label = "Replay" }

-- What tells the viewer: a frame in the station's colour and a mark in the corner, "pause" or "play again".
local mark = kernel {
  summary = "Marks a frozen or a repeated picture.",
  params  = {
    shown = { 0, min = 0, max = 1, neutral = 0, label = "How visible" },
    slow  = { 0, min = 0, max = 1, label = "Replay, not freeze" },
    tint  = { "#ffb020" },
  },
  pixel = function(c, p)
    local place = pos / size.y
    local right = size.x / size.y
    local border = max(max(0.014 - place.x, place.x - right + 0.014), max(0.014 - place.y, place.y - 0.986))
    local frame = smoothstep(-0.001, 0.001, border)
    -- A disc with two bars, or with a triangle that points back.
    local at = place - vec2(0.11, 0.115)
    local disc = smoothstep(0.063, 0.06, length(at))
    local bars = smoothstep(0.011, 0.009, abs(abs(at.x) - 0.018)) * smoothstep(0.032, 0.03, abs(at.y))
    local back = smoothstep(0, 0.003, at.x + 0.03) * smoothstep(0.003, 0, abs(at.y) * 1.25 + at.x * 0.75 - 0.016)
    local sign = mix(bars, smoothstep(0, 0.003, 0.034 - abs(at.y) - abs(at.x - 0.004) * 0.3) * back, p.slow)
    local over = mix(c.rgb, p.tint.rgb, frame * p.shown)
    over = mix(over, p.tint.rgb, disc * p.shown)
    return vec4(mix(over, vec3(0.1, 0.08, 0.05), sign * disc * p.shown), c.a)
  end,
} { "mark", shown = freeze }

cam >> memory >> mark >> display { "view", title = "Patchbay: replay" }

local playing = false
local function live()
  playing = false
  memory.frozen = false
  memory.back = 0
  mark:ramp("shown", 0, 0.2)
end

freeze:onChange(function(on)
  if not on then return live() end
  memory.frozen = true
  mark.slow = 0
  mark:ramp("shown", 1, 0.2)
end)

local function showAgain()
  if playing then return end
  playing = true
  memory.frozen = true
  memory.back = keyframes { { 0, 4 }, { 8, 0 } }     -- four seconds back, and up to now in eight
  mark.slow = 1
  mark:ramp("shown", 1, 0.2)
  after(8, live)
end
again:onPress(showAgain)

onKey("space", showAgain)
onKey("f", function() freeze.value = not freeze.value end)
