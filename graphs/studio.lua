-- graphs/studio.lua: somebody before a green cloth, put before any picture, with a shadow and one light for both.
--   patchbay run graphs/studio.lua --bind cam=camera --bind background=beach.mp4
-- Cloth of another colour: --set "cloth=#1040c0". Keys: up and down change what counts as cloth.
graph { size = "1280x720", fps = 30 }

local cam   = input { "cam", default = "greenscreen" }
local place = input { "background", default = "landscape" }
local cloth = color { "cloth", "#1fa34a" }
local reach = param { "reach", 0.14, min = 0, max = 1, step = 0.02, label = "What counts as cloth" }

local keyed = filter.chromaKey { "keyed", color = cloth, threshold = reach, smoothing = 0.1, spill = 1 }
-- The place out of focus, as a lens would show it behind a person.
local far   = filter.gaussianBlur { "far", sigma = 5 }
-- The person in the place's light: a little warmer, and brighter from the sun's side.
local lit   = kernel {
  summary = "Warm light from one side.",
  params  = { warmth = { 0.5, min = 0, max = 1, neutral = 0, label = "Warmth" } },
  pixel   = function(c, p)
    local side = smoothstep(0.3, 0.75, uv.x) * p.warmth
    return vec4(c.rgb * mix(vec3(1), vec3(1.22, 1.08, 0.9), side), c.a)
  end,
} { "lit" }
local shadow = filter.dropShadow { "shadow" }
local both   = blend.normal { "both" }

cam >> keyed >> lit >> shadow
place >> far >> both.image
shadow >> both.overlay
both >> display { "view", title = "Patchbay: studio" }

onKey("up",   function() reach.value = math.min(1, reach.value + 0.02) end)
onKey("down", function() reach.value = math.max(0, reach.value - 0.02) end)
