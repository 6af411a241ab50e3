-- graphs/beautify.lua: a beautified camera: shown, recorded, published, with a switch (the key b).
--
--   patchbay run graphs/beautify.lua                                   the first camera
--   patchbay run graphs/beautify.lua --bind cam=clip.mp4               a clip instead
--   PATCHBAY_URL=rtmp://host/live/key patchbay run graphs/beautify.lua  and on air
--
-- Save this file while it runs: the new look is on air at the next frame.
local cam  = input         { "cam", size = "1280x720", fps = 30, mirror = true, default = "camera" }
local fit  = rawDataOutput { "fit", size = "1280x720", fill = "fill" }    -- whatever comes, cut to the stream's size
local raw  = rawDataOutput { "raw", size = "1280x720", format = "bgra" }
local view = display       { "local", title = "Patchbay: beautify" }

local smooth  = param  { "smooth", 0.5, min = 0, max = 1, label = "Skin smoothing" }
local enabled = toggle { "beautify", true, label = "Beautify" }
local beauty  = filter.beautify { smooth = smooth }

-- The raw frames feed what leaves the machine, as GPUImage's demo feeds its capturer. The same settings: one encoder for both.
raw:addTarget(recorder  { "recording", file = "out/beautify.mkv", bitrate = 4000000, speed = "superfast" })
raw:addTarget(publisher { "hls", url = "out/hls/live.m3u8", bitrate = 4000000, speed = "superfast" })
raw:addTarget(snapshot  { "still", file = "out/still.png", at = 1 })
local url = secret("PATCHBAY_URL", { optional = true })
if url then raw:addTarget(publisher { "live", url = url, preset = "standard-landscape" }) end

cam:addTarget(fit)
local function wire(on)
  fit:removeAllTargets()
  beauty:removeAllTargets()
  if on then
    fit:addTarget(beauty)
    beauty:addTarget(view); beauty:addTarget(raw)
  else
    fit:addTarget(raw); fit:addTarget(view)
  end
end
wire(enabled.value)
enabled:onChange(wire)                     -- all calls inside one handler are one edit, applied at one tick
onKey("b", function() enabled.value = not enabled.value end)
