-- graphs/guests.lua: other people's filters in a graph: FFmpeg's noise filter, then a frei0r plugin, each on its own.
--   patchbay run graphs/guests.lua --bind cam=camera
-- If a guest is slow or breaks, the graph goes on. `patchbay filters --ffmpeg` and `--frei0r` list what there is.
graph { size = "1280x720", fps = 30 }

local cam   = input  { "cam", default = "host" }
local quiet = ffmpeg { "hqdn3d=4,unsharp=5:5:0.8", name = "quiet" }
local comic = frei0r { "cartoon", name = "comic", diffspace = 4, triplevel = 0.9 }

-- The left third as it came, the middle without noise, the right third as a comic.
local thirds = kernel {
  summary = "Three pictures beside each other.",
  inputs  = { "first", "second", "third" },
  pixel   = function(first, second, third)
    local line = smoothstep(0.002, 0.001, min(abs(uv.x - 1 / 3), abs(uv.x - 2 / 3)))
    local shown = select(lt(uv.x, 1 / 3), first, select(lt(uv.x, 2 / 3), second, third))
    return mix(shown, vec4(1), line)
  end,
} { "thirds" }

cam >> quiet >> comic
cam >> thirds.first
quiet >> thirds.second
comic >> thirds.third
thirds >> display { "view", title = "Patchbay: guests" }

quiet:onError(function(why) log("the noise filter is off:", why) end)
onKey("n", function() quiet:command("hqdn3d", "luma_spatial", 12) end)
