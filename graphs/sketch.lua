-- graphs/sketch.lua: a comic from a camera. The keys 1, 2 and 3 choose: ink, comic, or both beside each other.
--   patchbay run graphs/sketch.lua --bind cam=camera
graph { size = "1280x720", fps = 30 }

local cam  = input  { "cam", default = "host" }
local pick = choice { "style", "both", options = { "ink", "comic", "both" }, label = "Style" }

local ink   = require "looks.ink" { "ink" }
local comic = filter.smoothToon { "comic" }
local pop   = filter.saturation { "pop", saturation = 1.5 }

-- A torn edge between the two: left the first, right the second.
local halves = kernel {
  summary = "Two pictures with a slanted line between them.",
  inputs  = { "left", "right" },
  params  = { split = { 0.5, min = -0.2, max = 1.2, label = "Where they meet" } },
  pixel   = function(left, right, p)
    local place = uv.x - p.split + (uv.y - 0.5) * 0.22 + 0.004 * sin(uv.y * 60)
    local line = smoothstep(0.007, 0.004, abs(place))
    return mix(mix(left, right, smoothstep(-0.001, 0.001, place)), vec4(vec3(0.08), 1), line)
  end,
} { "halves" }

cam >> { ink, comic }
comic >> pop
ink >> halves.left
pop >> halves.right

local view = display { "view", title = "Patchbay: sketch" }
halves >> view

local places = { ink = 1.2, comic = -0.2, both = 0.5 }
local function show(style) halves:ramp("split", places[style], 0.5, "easeInOut") end
pick:onChange(show)
for key, style in ipairs { "ink", "comic", "both" } do onKey(tostring(key), function() pick.value = style end) end
