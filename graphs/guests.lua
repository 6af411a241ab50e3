-- graphs/guests.lua: other people's filters in a graph: FFmpeg's noise filter, then a frei0r plugin, each on its own.
--   patchbay run graphs/guests.lua --bind cam=camera
-- If a guest is slow or breaks, the graph goes on. `patchbay filters --ffmpeg` and `--frei0r` list what there is.
graph { size = "1280x720", fps = 30 }

local cam   = input  { "cam", default = "host" }
local quiet = ffmpeg { "hqdn3d=4,unsharp=5:5:0.8", name = "quiet" }
local comic = frei0r { "cartoon", name = "comic", diffspace = 1 }

-- The left quarter as it came, the next without noise, the right half as a comic.
local parts = kernel {
  summary = "Three pictures beside each other.",
  inputs  = { "first", "second", "third" },
  pixel   = function(first, second, third)
    local line = smoothstep(0.002, 0.001, min(abs(uv.x - 0.25), abs(uv.x - 0.5)))
    local shown = select(lt(uv.x, 0.25), first, select(lt(uv.x, 0.5), second, third))
    return mix(shown, vec4(1), line)
  end,
} { "parts" }

cam >> quiet >> comic
cam >> parts.first
quiet >> parts.second
comic >> parts.third
parts >> display { "view", title = "Patchbay: guests" }

quiet:onError(function(why) log("the noise filter is off:", why) end)
onKey("n", function() quiet:command("hqdn3d", "luma_spatial", 12) end)
