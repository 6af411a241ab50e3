-- Counts down (or with up = true, up) in graph time.
--   local countdown, control = require "looks.timer" { "countdown", seconds = 300, onDone = function() … end }
--   slate >> countdown >> view        control.start(60)   control.stop()   control.left()
local place = require "looks.place"

local function words(seconds)
  local s = math.max(0, math.ceil(seconds - 1e-6))
  if s >= 3600 then return string.format("%d:%02d:%02d", s // 3600, s // 60 % 60, s % 60) end
  return string.format("%d:%02d", s // 60, s % 60)
end

return function(options)
  local name = options[1] or "timer"
  local length = options.seconds or 60
  local size = options.size or 120
  local face = text {
    name .. " face", string = words(options.up and 0 or length), size = size, font = options.font or "Sans Bold",
    width = options.width or math.floor(size * 4.2), height = math.floor(size * 1.5), align = "center",
    color = options.color or "#ffffff", shadow = { y = size / 30, blur = size / 8, color = "#00000090" },
  }
  local over = place { name, position = options.position or { 0.5, 0.5 }, anchor = options.anchor or { 0.5, 0.5 } }
  face >> over.picture

  local began, now, running, shown = 0, 0, options.running ~= false, face.string
  local function elapsed() return running and now - began or 0 end
  local function show()
    local text = words(options.up and math.min(length, math.floor(elapsed())) or length - elapsed())
    if text ~= shown then
      shown = text
      face.string = text
    end
  end
  onFrame(function(time)
    now = time
    if not running then return end
    show()
    if elapsed() >= length then
      running, began = false, 0
      if options.onDone then options.onDone() end
    end
  end)

  return group {
    name, inputs = { image = over.image }, output = over,
    params = { opacity = { over, "opacity" }, scale = { over, "scale" }, color = { face, "color" } },
  }, {
    start = function(seconds)
      length, began, running = seconds or length, now, true
      show()
    end,
    stop = function() running = false end,
    left = function() return math.max(0, length - elapsed()) end,
  }
end
