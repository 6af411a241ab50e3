-- graphs/film.lua: the look of a film print: a colour table, light that spills, grain, a shaky gate, and the wide frame.
--   patchbay run graphs/film.lua --bind cam=clip.mp4
-- Any .cube file may take the place of assets/film.cube. Keys: space shows the picture without the look.
graph { size = "1280x720", fps = 24 }

local cam  = input { "cam", default = "host" }
local look = param { "look", 1, min = 0, max = 1, step = 0.05, label = "Look" }

-- The gate does not hold each frame in quite the same place.
local gate = kernel {
  summary = "Moves each frame a little, as a film gate does.",
  params = { amount = { 0.6, min = 0, max = 5, neutral = 0, unit = "px", label = "Amount" } },
  sample = function(src, pos, p)
    local sway = vec2(sin(time * 9.1) + sin(time * 23.7) * 0.5, cos(time * 7.3) + sin(time * 31.1) * 0.6)
    return src:sample(uv + sway * p.amount / size)
  end,
} { "gate", amount = 0.8 }

local print = filter.lut3d { "print", file = "assets/film.cube", intensity = look }
local glow  = require "looks.glow" { "halation", amount = 0.28, threshold = 0.72 }
local grain = filter.filmGrain { "grain", amount = 0.09, grain = 1.3, shadows = 0.2 }
local edges = filter.vignette { "edges", amount = 0.55, start = 0.42, finish = 0.95 }

-- 2.39:1, with edges that are not quite sharp, as the aperture plate is out of focus.
local frame = kernel {
  summary = "Black bars for a wide frame.",
  params = { ratio = { 2.39, min = 1.33, max = 4, label = "Width by height" } },
  pixel = function(c, p)
    local half = size.x / p.ratio / 2
    local inside = 1 - smoothstep(half - 1.5, half + 1.5, abs(pos.y - size.y / 2))
    return vec4(c.rgb * inside, c.a)
  end,
} { "frame" }

cam >> gate >> print >> glow >> edges >> grain >> frame >> display { "view", title = "Patchbay: film" }

onKey("space", function() look.value = look.value > 0 and 0 or 1 end)
