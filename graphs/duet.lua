-- graphs/duet.lua: two people in one picture, each cut upright around the face, with a seam that the operator moves.
--   patchbay run graphs/duet.lua --bind cam=camera --bind guest=rtmp://host/live/guest
-- Keys: left and right give one of them more room, space evens it out.
graph { size = "1280x720", fps = 30 }

local cam   = input { "cam", default = "host" }
local guest = input { "guest", default = "guest" }
local seam  = param { "seam", 0.5, min = 0.25, max = 0.75, step = 0.05, label = "Seam" }
local close = param { "close", 1.12, min = 1, max = 3, label = "How close" }

-- Each half shows the middle of its picture, cut to the half's shape; nothing is squeezed.
local duet = kernel {
  summary = "Two pictures side by side, each cut to its half.",
  inputs  = { "left", "right" },
  params  = {
    seam   = { 0.5, min = 0.25, max = 0.75, label = "Seam" },
    close  = { 1, min = 1, max = 3, label = "How close" },
    gap    = { 0.006, min = 0, max = 0.1, label = "Gap" },
    colour = { "#f4f0e6", label = "Gap's colour" },
  },
  sample = function(left, right, pos, p)
    local place = vec2(uv.x, 0.48 + (uv.y - 0.48) / p.close)
    local a = left:sample(vec2(0.5 + (place.x - p.seam / 2) / p.close, place.y))
    local b = right:sample(vec2(0.5 + (place.x - (1 + p.seam) / 2) / p.close, place.y))
    local across = uv.x - p.seam
    local soft = 0.5 / size.x
    local seamless = mix(a, b, smoothstep(-soft, soft, across))
    return mix(seamless, vec4(p.colour.rgb, 1), smoothstep(p.gap / 2 + soft, p.gap / 2 - soft, abs(across)))
  end,
} { "duet", seam = seam, close = close }

cam >> duet.left
guest >> duet.right
duet >> filter.vignette { "frame", amount = 0.35, start = 0.5, finish = 1 } >> display { "view", title = "Patchbay: duet" }

onKey("left",  function() seam.value = math.max(0.25, seam.value - 0.05) end)
onKey("right", function() seam.value = math.min(0.75, seam.value + 0.05) end)
onKey("space", function() seam.value = 0.5 end)
