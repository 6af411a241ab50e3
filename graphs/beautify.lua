-- graphs/beautify.lua: a beautified camera: shown, recorded, published, with a switch (the key b).
--
--   patchbay run graphs/beautify.lua                                   the first camera
--   patchbay run graphs/beautify.lua --bind cam=clip.mp4               a clip instead
--   PATCHBAY_URL=rtmp://host/live/key patchbay run graphs/beautify.lua  and on air
--
-- Save this file while it runs: the new look is on air at the next frame.
local cam  = input         { "cam", size = "1280x720", fps = 30, mirror = true, loop = true, default = "camera" }
local raw  = rawDataOutput { "raw", size = "1280x720", format = "bgra" }
local view = display       { "local", title = "Patchbay: beautify" }

local smooth  = param  { "smooth", 0.5, min = 0, max = 1, label = "Skin smoothing" }
local enabled = toggle { "beautify", true, label = "Beautify" }
local beauty  = filter.beautify { smooth = smooth }

-- The raw frames feed what leaves the machine, as GPUImage's demo feeds its capturer.
raw:addTarget(recorder  { "recording", file = "out/beautify.mkv" })
raw:addTarget(publisher { "hls", url = "out/hls/live.m3u8" })
raw:addTarget(snapshot  { "still", file = "out/still.png", at = 1 })
local url = secret("PATCHBAY_URL", { optional = true })
if url then raw:addTarget(publisher { "live", url = url, preset = "standard-landscape" }) end

local function wire(on)
  cam:removeAllTargets()
  if on then
    cam:addTarget(beauty)
    beauty:addTarget(view); beauty:addTarget(raw)
  else
    cam:addTarget(raw); cam:addTarget(view)
  end
end
wire(enabled.value)
enabled:onChange(wire)                     -- all calls inside one handler are one edit, applied at one tick
onKey("b", function() enabled.value = not enabled.value end)
