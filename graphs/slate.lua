-- graphs/slate.lua: a slate before the show that counts down, and the show when it is over.
--   patchbay run graphs/slate.lua --bind cam=camera --set seconds=300
-- Keys: space starts again, s begins the show at once.
graph { size = "1280x720", fps = 30, crossfade = 0.6 }
local sans, bold = "Noto Sans, DejaVu Sans", "Noto Sans, DejaVu Sans Bold"

local seconds = param { "seconds", 90, min = 3, max = 3600, step = 1, unit = "s", label = "Length" }
local cam     = input { "cam", default = "host" }
local base    = color { "base", rgba = "#0b1026" }
local view    = display { "view", title = "Patchbay: slate" }

-- Slow lights, and a ring that empties.
local stage = kernel {
  summary = "Slow lights behind a ring that empties.",
  params = {
    left = { 1, min = 0, max = 1, label = "What is left" },
    warm = { "#ff8a5c", label = "First light" },
    cool = { "#3a6cf0", label = "Second light" },
    deep = { "#8a3ab9", label = "Third light" },
  },
  pixel = function(c, p)
    local q = (pos - size / 2) / size.y
    local function light(x, y, reach) local d = q - vec2(x, y) return exp(-dot(d, d) / (reach * reach)) end
    local rgb = c.rgb
      + p.cool.rgb * (0.42 * light(-0.55 + 0.12 * sin(time * 0.31), -0.25 + 0.10 * cos(time * 0.23), 0.55))
      + p.warm.rgb * (0.34 * light(0.62 + 0.10 * cos(time * 0.27), 0.32 + 0.08 * sin(time * 0.37), 0.50))
      + p.deep.rgb * (0.36 * light(0.10 + 0.16 * sin(time * 0.19), -0.05 + 0.12 * sin(time * 0.29), 0.45))
    -- Faint lines, as of a far stage.
    rgb = rgb * (0.97 + 0.03 * cos(pos.y * 1.2566))

    local center = vec2(0, 0.035)
    local d = length(q - center)
    local ring = 1 - smoothstep(0.0045, 0.0065, abs(d - 0.235))
    local turn = atan(-(q.x - center.x), q.y - center.y) / 6.2831853 + 0.5
    local full = select(le(turn, p.left), 1, 0.16)
    rgb = mix(rgb, vec3(1), ring * full * 0.9)
    local tip = vec2(sin(p.left * 6.2831853), -cos(p.left * 6.2831853)) * 0.235 + center
    rgb = mix(rgb, vec3(1), 1 - smoothstep(0.010, 0.013, length(q - tip)))
    -- A glow around the tip.
    rgb = rgb + p.warm.rgb * (0.35 * exp(-dot(q - tip, q - tip) * 900))
    -- Half a code of noise, so that the dark does not band.
    return vec4(rgb + (hash(pos.x, pos.y) - 0.5) / 255, 1)
  end,
} { "stage" }

local function words(name, string, size, font, y, alpha)
  local over = require "looks.place" { name, position = { 0.5, y } }
  text { name .. " words", string = string, size = size, font = font, color = "#ffffff" .. (alpha or "ff"),
    letterSpacing = size > 40 and 1 or 5, align = "center" } >> over.picture
  return over
end
local title  = words("title", "Evening Concert", 62, bold, 0.125)
local line   = words("line", "LIVE FROM THE GREAT HALL", 21, sans, 0.205, "b0")
local footer = words("footer", "We begin in a moment", 26, sans, 0.915, "c8")

local function begin()
  footer:removeAllTargets()
  cam >> view
end
local timer, control = require "looks.timer" {
  "timer", seconds = seconds.value, size = 104, font = bold, position = { 0.5, 0.535 }, onDone = begin,
}

base >> stage >> title >> line >> timer >> footer >> view

onFrame(function() stage.left = control.left() / seconds.value end)
seconds:onChange(function(value) control.start(value) end)
onKey("space", function()
  cam:removeAllTargets()
  footer:removeAllTargets()
  footer >> view
  control.start(seconds.value)
end)
onKey("s", begin)
