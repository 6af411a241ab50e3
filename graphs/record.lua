-- graphs/record.lua: any source through a look into a file; `render` makes it exactly, without losing a frame.
--   patchbay render graphs/record.lua --bind clip=holiday.mp4
local clip   = input    { "clip" }
local warmth = param    { "warmth", 0.3, min = -1, max = 1, label = "Warmth" }
local shade  = param    { "shade", 0.3, min = 0, max = 1, label = "Vignette" }
local file   = recorder { "file", file = "out/record.mp4" }

clip >> filter.contrast { contrast = 1.1 } >> require "looks.warm" { amount = warmth } >> file
