-- graphs/pipe.lua: raw frames for another program, here a portrait, mirrored, as YUV4MPEG2 on standard output.
--   patchbay run graphs/pipe.lua --bind cam=/dev/video0 | ffplay -
local cam = input { "cam", orientation = "portrait", mirror = true }
local raw = rawDataOutput { "raw", file = "-", container = "y4m", size = "480x640" }

cam >> raw
