-- graphs/podcast.lua: a talk: the microphone cleaned, evened out and kept below full scale, its loudness watched. Key c coughs.
--   patchbay run graphs/podcast.lua --bind cam=camera
local cam   = input      { "cam", default = "host", size = "1280x720" }
local mic   = microphone { "mic" }
local view  = display    { "view" }
local tape  = recorder   { "tape", file = "out/podcast.mkv", audioBitrate = 192000 }

local clean = audio.noiseSuppression { "clean", reduction = 18 }
local gate  = audio.gate             { "gate", threshold = -50, reduction = 15 }
local tone  = audio.equalizer        { "tone", lowCut = 80, low = -2, presence = 3 }
local even  = audio.compressor       { "even", threshold = -22, ratio = 3, makeup = 5 }
local limit = audio.limiter          { "limit", ceiling = -1 }
local meter = audio.meter            { "meter" }
local voice = audio.gain             { "voice", db = param { "volume", 0, min = -24, max = 12, unit = "dB" } }

cam.video >> require "looks.warm" { amount = 0.15 } >> filter.vignette { start = 0.4 } >> { view, tape }
mic >> clean >> gate >> tone >> even >> voice >> limit >> meter >> tape

local cough = toggle { "cough", false, label = "Cough" }
cough:onChange(function(on) voice.mute = on end)
onKey("c", function() cough.value = not cough.value end)

local loudness
meter:onData(function(d) loudness = d end)
every(10, function()
  if loudness then log(string.format("%.1f LUFS, peak %.1f dBTP", loudness.integrated, loudness.truePeak)) end
end)
