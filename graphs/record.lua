-- graphs/record.lua: any source through a look into a file; `render` makes it exactly, without losing a frame.
--   patchbay render graphs/record.lua --bind clip=holiday.mp4
local clip   = input    { "clip" }
local warmth = param    { "warmth", 0.3, min = -1, max = 1, label = "Warmth" }
local file   = recorder { "file", file = "record.mp4" }

clip >> filter.contrast { contrast = 1.1 } >> require "looks.warm" { amount = warmth } >> file
