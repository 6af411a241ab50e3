-- A band at the bottom with news that run from right to left without end.
--   cam >> require "looks.ticker" { "news", string = "First · Second", label = "NEWS", speed = 120 } >> view
-- The text is drawn once; a kernel moves it by fractions of a pixel. `string` and `label` may be changed on air.
--
-- The way so far comes from an lfo, which counts exactly however long the graph runs: a saw from 0 to `loop` pixels.
-- The text's own period is stretched to a whole part of it, so that the end of the saw is not seen.
local loop = 262144

local band = kernel {
  summary = "Runs a text through a band at the bottom.",
  inputs = { "image", "text", "label" },
  alpha = "premultiplied",
  params = {
    way     = { 0, min = 0, max = loop, unit = "px", label = "Way so far" },
    bottom  = { 0, min = 0, max = 2000, unit = "px", label = "Distance from the bottom" },
    gap     = { 120, min = 1, max = 8192, unit = "px", label = "Gap between two rounds" },
    color   = { "#0d1b3ee6", label = "Band" },
    accent  = { "#c8102e", label = "Label" },
    opacity = { 1, min = 0, max = 1, neutral = 0, label = "Opacity" },
  },
  sample = function(image, text, label, pos, p)
    local height = text.size.y
    local top = size.y - p.bottom - height
    local y = (pos.y - top) / height
    local inside = select(ge(pos.y, top) & lt(pos.y, top + height), 1, 0)

    -- Where in the endless tape this column is.
    local period = loop / floor(loop / (text.size.x + p.gap))
    local along = p.way - (size.x - pos.x)
    local x = along - period * floor(along / period)
    local letters = text:sample(vec2(x / text.size.x, y), "bilinear", "transparent")

    local tint = p.color.rgb * p.color.a
    local result = vec4(tint, p.color.a)
    -- A thin line of light along the upper edge, and a shade towards the lower one.
    result = result * (1 - 0.22 * y)
    local line = 1 - smoothstep(1.5, 3, pos.y - top)
    result = mix(result, vec4(p.accent.rgb, 1), line)
    result = letters + result * (1 - letters.a)

    local tag = label:sample(vec2(pos.x / label.size.x, y), "bilinear", "transparent")
    local covers = select(lt(pos.x, label.size.x), 1, 0)
    -- Letters fade out before the label instead of being cut by it.
    local shade = 0.45 * (1 - smoothstep(0, 26, pos.x - label.size.x)) * (1 - covers)
    result = mix(result, vec4(tint * 0.4, 1), shade)
    local plate = tag + vec4(p.accent.rgb, 1) * (1 - tag.a)
    result = mix(result, plate, covers)

    local over = result * (p.opacity * inside)
    return over + image:at(0, 0) * (1 - over.a)
  end,
}

return function(options)
  local name = options[1] or "ticker"
  local size = options.size or 30
  local height = math.floor(size * 1.9)
  local news = text {
    name .. " news", string = options.string or "", size = size, height = height,
    font = options.font or "Sans", color = options.color or "#ffffff",
  }
  local tag = text {
    name .. " label", string = options.label or "", size = size * 0.92, height = height, padding = size * 0.6,
    font = options.labelFont or "Sans Bold", color = "#ffffff", letterSpacing = 1,
  }
  local over = band {
    name, way = lfo { wave = "saw", frequency = (options.speed or 120) / loop, min = 0, max = loop },
    bottom = options.bottom or 0, gap = options.gap or 120,
  }
  if options.accent then over.accent = options.accent end
  news >> over.text
  tag >> over.label
  return group {
    name, inputs = { image = over.image }, output = over,
    params = {
      string = { news, "string" }, label = { tag, "string" }, opacity = { over, "opacity" },
      accent = { over, "accent" }, bottom = { over, "bottom" },
    },
  }
end
