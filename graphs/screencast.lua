-- graphs/screencast.lua: a screen as a window on a coloured desk, with you in a bubble. No sound.
--   patchbay run graphs/screencast.lua --bind cam=camera --bind screen=talk.mp4
-- To take the machine's own screen put screen{ "screen", fps = 30 } in place of the input below.
-- Keys: the arrows move the bubble, c brings it to the middle and back, r begins and ends the recording's red dot.
graph { size = "1280x720", fps = 30 }
local sans, bold = "Noto Sans, DejaVu Sans", "Noto Sans, DejaVu Sans Bold"

local desktop = input { "screen", default = "landscape" }
local cam     = input { "cam", default = "host" }
local base    = color { "base", rgba = "#202a44" }

local desk = kernel {
  summary = "A window with round corners on a coloured desk.",
  inputs = { "image", "screen" },
  params = {
    top    = { "#5b3fd6", label = "Desk, above" },
    bottom = { "#f0718a", label = "Desk, below" },
    inset  = { 0.07, min = 0, max = 0.4, label = "Margin" },
  },
  sample = function(image, screen, pos, p)
    local sky = mix(p.top.rgb, p.bottom.rgb, smoothstep(0, 1.15, uv.y + 0.28 * sin(uv.x * 2.4 + 0.6)))
    sky = sky + 0.10 * exp(-dot(uv - vec2(0.8, 0.1), uv - vec2(0.8, 0.1)) * 9)

    local half = size * (0.5 - p.inset)
    local q = abs(pos - size / 2) - half
    -- Distance from a rectangle with round corners.
    local function box(d, radius)
      local e = max(d + radius, vec2(0))
      return length(e) + min(max(d.x + radius, d.y + radius), 0) - radius
    end
    local d = box(q, 16)
    local below = box(abs(pos - size / 2 - vec2(0, 16)) - half, 22)
    sky = sky * (1 - 0.42 * (1 - smoothstep(-30, 46, below)))

    -- A title bar with its three dots, and the screen below it.
    local bar = 34
    local left, top = size.x / 2 - half.x, size.y / 2 - half.y
    local place = vec2(pos.x - left, pos.y - top - bar) / vec2(half.x * 2, half.y * 2 - bar)
    local inside = screen:sample(place).rgb
    local shade = vec3(0.955, 0.96, 0.97) - 0.03 * smoothstep(0, bar, pos.y - top)
    local function dot_(i, color)
      return (1 - smoothstep(5.4, 6.6, length(pos - vec2(left + 22 + 20 * i, top + bar / 2)))), color
    end
    for i, rgb in ipairs { { 1, 0.37, 0.34 }, { 1, 0.74, 0.18 }, { 0.16, 0.79, 0.25 } } do
      local cover = dot_(i - 1)
      shade = mix(shade, vec3(rgb[1], rgb[2], rgb[3]), cover)
    end
    local window = select(lt(pos.y, top + bar), shade, inside)
    return vec4(mix(sky, window, 1 - smoothstep(-0.7, 0.7, d)), 1)
  end,
} { "desk" }

-- You, in a circle: a square slot whose corners are as round as it is large, cut to the face.
local mix = mixer { "mix", size = "1280x720" }
local function bubble(x, y, radius)
  return { position = { x - radius, y - radius }, size = { 2 * radius, 2 * radius }, cornerRadius = radius }
end

local caption = text {
  "caption words", string = "Lesson 3 · Wiring a graph", size = 25, font = bold, color = "#ffffff",
  background = "#141a2ecc", padding = 14, cornerRadius = 12,
}
local placed = require "looks.place" { "caption", position = { 0.115, 0.885 }, anchor = { 0, 1 } }
local dot = text { "dot words", string = "● REC", size = 20, font = sans, color = "#d81e34", padding = 4 }
local rec = require "looks.place" { "rec", position = { 0.917, 0.0955 }, anchor = { 1, 0.5 } }

base >> desk.image
desktop >> desk.screen
desk >> placed.image
caption >> placed.picture
placed >> rec.image
dot >> rec.picture
mix.slots.desk   = { source = rec, size = { 1280, 720 } }
mix.slots.camera = {
  source = cam, z = 1, aspect = "fill", crop = { 0.155, 0.115, 0.69, 0.69 }, border = { 5, "#ffffff" },
  shadow = { offset = { 0, 10 }, blur = 28, color = "#00000080" },
}
mix >> display { "view", title = "Patchbay: screen cast" }

local corner, isMiddle, isRecording = { 1094, 543 }, false, true
local function place(seconds)
  local to = isMiddle and bubble(640, 360, 260) or bubble(corner[1], corner[2], 119)
  mix:transition("camera", to, seconds, "easeInOut")
end
place(0)

onKey("c", function()
  isMiddle = not isMiddle
  place(0.5)
end)
for key, step in pairs { left = { -64, 0 }, right = { 64, 0 }, up = { 0, -56 }, down = { 0, 56 } } do
  onKey(key, function()
    corner = { math.max(128, math.min(1152, corner[1] + step[1])), math.max(128, math.min(592, corner[2] + step[2])) }
    place(0.2)
  end)
end
onKey("r", function()
  isRecording = not isRecording
  rec:ramp("opacity", isRecording and 1 or 0, 0.2)
end)
