-- graphs/bars.lua: test bars with a slow change of warmth, for trying a machine without a camera.
--   patchbay run graphs/bars.lua
local warm = require "looks.warm"

local bars = testPattern { "bars", kind = "bars", size = "1280x720", fps = 30 }
local look = warm { "look", amount = lfo { frequency = 0.25, min = -1, max = 1 } }

bars >> look >> display { "screen", title = "Patchbay: bars" }
