-- graphs/news.lua: a news show: who speaks, a ticker, a clock, and a bug that says it is live.
--   patchbay run graphs/news.lua --bind cam=camera
-- Keys: t shows and hides the lower third, n goes to the next guest. The clock is the machine's; for rehearsals
-- --set clock=20:15:00 starts it there.
graph { size = "1280x720", fps = 30 }
local sans, bold = "Noto Sans, DejaVu Sans", "Noto Sans, DejaVu Sans Bold"

local cam  = input  { "cam", default = "host" }
local when = choice { "clock", "now", options = { "now", "20:15:00" }, label = "Clock" }
local red  = color  { "accent", "#c8102e", label = "House colour" }

local people = {
  { "Mira Holt", "Correspondent, the lake district" },
  { "Jonas Weber", "Mayor" },
  { "مريم العلي", "Hydrologist" },
}
local guest = 1

local third = require "looks.lowerThird" {
  "third", title = people[1][1], subtitle = people[1][2], size = 42, left = 0.055, bottom = 0.165,
  font = bold, subtitleFont = sans, accent = red,
}
local ticker = require "looks.ticker" {
  "ticker", label = "NEWS", size = 26, speed = 110, font = sans, labelFont = bold, accent = red,
  string = "Lake level back to normal after a dry summer   ·   Night train to the coast runs daily from May"
    .. "   ·   Orchestra opens its rehearsals to everybody   ·   Weather: sun in the north, showers by the evening",
}
local clock = require "looks.clock" {
  "time", size = 28, format = "%H:%M:%S", from = when.value ~= "now" and when.value or nil,
  position = { 0.965, 0.05 }, font = bold, background = "#0d1b3ed0",
}
local live = text {
  "live words", string = "LIVE", size = 26, font = bold, color = "#ffffff", background = "#c8102e",
  padding = 12, cornerRadius = 8, letterSpacing = 2,
}
local bug = require "looks.place" { "live", position = { 0.035, 0.05 }, anchor = { 0, 0 } }

live >> bug.picture
cam >> filter.fill { "fitted", size = "1280x720" } >> filter.vignette { "studio light", amount = 0.25, start = 0.5, finish = 1.1 } >> bug
bug >> clock >> third >> ticker >> display { "view", title = "Patchbay: news" }

local shown = true
third:ramp("progress", 1, 0.7, "easeOut")
local function show(on)
  shown = on
  third:ramp("progress", on and 1 or 0, on and 0.7 or 0.4, on and "easeOut" or "easeIn")
end
onKey("t", function() show(not shown) end)
onKey("n", function()
  show(false)
  after(0.45, function()
    guest = guest % #people + 1
    third.title, third.subtitle = people[guest][1], people[guest][2]
    show(true)
  end)
end)
