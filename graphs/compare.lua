-- graphs/compare.lua: before and after, side by side, with a line that the operator moves.
--   patchbay run graphs/compare.lua --bind cam=portrait.png --set split=0.3
local compare = kernel {
  summary = "One picture left of a line, another one right of it.",
  inputs  = { "before", "after" },
  params  = { split = { 0.5, min = 0, max = 1, label = "Line" } },
  pixel   = function(before, after, p)
    local line = smoothstep(0.003, 0.001, abs(uv.x - p.split))
    return mix(select(lt(uv.x, p.split), before, after), vec4(1), line)
  end,
}

local cam   = input { "cam", default = "camera" }
local split = param { "split", 0.5, min = 0, max = 1, label = "Line between before and after" }
local both  = compare { "both", split = split }

cam >> both.before
cam >> filter.beautify { "beauty", smooth = 0.8 } >> both.after
both >> { display { "view", title = "Patchbay: before | after" }, snapshot { "still", file = "compare.png" } }
