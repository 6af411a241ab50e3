-- A name and what it is about, on a plate that slides in at the lower left.
--   local third = require "looks.lowerThird" { "guest", title = "Ada Lovelace", subtitle = "Mathematician" }
--   cam >> third >> view
--   third.title = "…"      third:ramp("progress", 1, 0.6, "easeOut")      and back to 0
local plate = kernel {
  summary = "A plate with two lines of text that slides in.",
  inputs = { "image", "title", "subtitle" },
  alpha = "premultiplied",
  params = {
    progress = { 0, min = 0, max = 1, neutral = 0, label = "Shown" },
    left     = { 0.05, min = 0, max = 1, label = "From the left" },
    bottom   = { 0.12, min = 0, max = 1, label = "From the bottom" },
    color    = { "#f7f8fa", label = "Plate" },
    second   = { "#13294b", label = "Second plate" },
    accent   = { "#c8102e", label = "Accent" },
  },
  sample = function(image, title, subtitle, pos, p)
    -- The accent bar grows first, then the plates come out of it, the second a little later.
    local grow  = smoothstep(0, 0.35, p.progress)
    local first = smoothstep(0.15, 0.8, p.progress)
    local later = smoothstep(0.35, 1, p.progress)

    local bar = floor(title.size.y * 0.13) + 1
    local left = floor(size.x * p.left)
    local base = floor(size.y * (1 - p.bottom))
    local middle = base - subtitle.size.y
    local top = middle - title.size.y

    local function within(x0, x1, y0, y1)
      return clamp(pos.x - x0 + 0.5, 0, 1) * clamp(x1 - pos.x + 0.5, 0, 1)
        * clamp(pos.y - y0 + 0.5, 0, 1) * clamp(y1 - pos.y + 0.5, 0, 1)
    end
    local function over(a, b) return a + b * (1 - a.a) end

    local x0 = left + bar
    local w1, w2 = title.size.x * first, subtitle.size.x * later
    local shade = within(x0, x0 + w1 + 10, top + 8, middle + 8) * 0.10
      + within(x0 - 4, x0 + w1 + 6, top + 4, middle + 5) * 0.16
    local result = over(vec4(vec3(0), shade * first), image:at(0, 0))

    -- The words ride on their plates: what slides is the window onto them.
    local t = title:sample(vec2(pos.x - x0 + title.size.x - w1, pos.y - top) / title.size, "bilinear", "transparent")
    local s = subtitle:sample(
      vec2(pos.x - x0 + subtitle.size.x - w2, pos.y - middle) / subtitle.size, "bilinear", "transparent")

    local light = 1 - 0.06 * (pos.y - top) / title.size.y
    local plate1 = over(t, vec4(p.color.rgb * light, 1)) * within(x0, x0 + w1, top, middle)
    local plate2 = over(s, vec4(p.second.rgb, 1)) * within(x0, x0 + w2, middle, base) * 0.96
    result = over(plate2, result)
    result = over(plate1, result)
    local height = (base - top) * grow
    local stripe = within(left, left + bar, base - height, base)
    return over(vec4(p.accent.rgb, 1) * stripe * grow, result)
  end,
}

return function(options)
  local name = options[1] or "lower third"
  local size = options.size or 44
  local title = text {
    name .. " title", string = options.title or "", size = size, font = options.font or "Sans Bold",
    color = options.titleColor or "#10182c", height = math.floor(size * 1.55), padding = size * 0.42,
  }
  local subtitle = text {
    name .. " subtitle", string = options.subtitle or "", size = size * 0.58, font = options.subtitleFont or "Sans",
    color = options.subtitleColor or "#ffffff", height = math.floor(size * 1.05), padding = size * 0.24,
  }
  local over = plate { name, progress = options.progress }
  for _, key in ipairs { "left", "bottom", "color", "second", "accent" } do
    if options[key] ~= nil then over[key] = options[key] end
  end
  title >> over.title
  subtitle >> over.subtitle
  return group {
    name, inputs = { image = over.image }, output = over,
    params = {
      title = { title, "string" }, subtitle = { subtitle, "string" }, progress = { over, "progress" },
      accent = { over, "accent" },
    },
  }
end
