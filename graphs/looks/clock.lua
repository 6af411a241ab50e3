-- The time of day in a corner.
--   cam >> require "looks.clock" { "clock", position = { 0.96, 0.06 }, format = "%H:%M" } >> view
-- With from = "20:14:50" it counts from there in graph time, for rehearsals and tests. The text is drawn anew once a second
-- at most, in a picture whose size stays, so that nothing jumps.
local place = require "looks.place"

return function(options)
  local name = options[1] or "clock"
  local size = options.size or 34
  local format = options.format or "%H:%M:%S"
  local start
  if options.from then
    local h, m, s = tostring(options.from):match("^(%d+):(%d+):?(%d*)$")
    if not h then error("from is written \"20:15:00\"", 2) end
    start = tonumber(h) * 3600 + tonumber(m) * 60 + (tonumber(s) or 0)
  end

  local function words(time)
    -- "!" reads the seconds as they are, without a time zone.
    if start then return os.date("!" .. format, (start + math.floor(time)) % 86400) end
    return os.date(format)
  end

  local face = text {
    name .. " face", string = words(0), size = size, font = options.font or "Sans Bold",
    width = options.width or math.floor(size * 0.72 * #words(0)) + size, height = math.floor(size * 1.7),
    align = "center", color = options.color or "#ffffff", background = options.background or "#0b1020b0",
    cornerRadius = size * 0.4,
  }
  local over = place {
    name, position = options.position or { 0.97, 0.05 }, anchor = options.anchor or { 1, 0 },
  }
  face >> over.picture

  local shown = face.string
  onFrame(function(time)
    local now = words(time)
    if now ~= shown then
      shown = now
      face.string = now
    end
  end)

  return group {
    name, inputs = { image = over.image }, output = over,
    params = { opacity = { over, "opacity" }, position = { over, "position" }, color = { face, "color" } },
  }
end
