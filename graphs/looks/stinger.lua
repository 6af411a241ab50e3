-- A stinger: a video with alpha that plays once over the cut between two pictures.
--
--   local sting = require "looks.stinger" { "sting", video = "assets/swoosh.mov", cut = 0.4 }
--   one >> sting.from
--   two >> sting.to
--   sting.output >> view
--   onKey("space", function() sting.play() end)
--
-- cut: seconds after the beginning at which the picture changes, under the video. A matte shows the new picture before the cut
-- where it is white, and must be white all over at the cut: matte = "FILE" is another video of the same length; beside = true
-- says that the video's left half is the stinger and its right half the matte. play(true) goes back.
local luma = { 0.2126, 0.7152, 0.0722 }

-- layout: "plain", "matte" (an input of its own) or "beside".
local function stinger(layout)
  local function white(matte) return clamp(dot(matte.rgb, vec3(luma[1], luma[2], luma[3])), 0, 1) end
  local params = { shown = { 0, min = 0, max = 1, label = "The second picture" } }
  if layout ~= "plain" then params.goal = { 0, min = 0, max = 1, label = "Where it goes" } end
  local function over(from, to, clip, matte, p)
    local under = mix(from, to, p.shown)
    if matte then under = mix(under, mix(from, to, p.goal), white(matte)) end
    return clip + under * (1 - clip.a)
  end
  local look = {
    summary = "A clip over one of two pictures, or over both as a matte mixes them.",
    inputs = layout == "matte" and { "from", "to", "clip", "matte" } or { "from", "to", "clip" },
    alpha = "premultiplied",
    params = params,
  }
  if layout == "plain" then
    look.pixel = function(from, to, clip, p) return over(from, to, clip, nil, p) end
  elseif layout == "matte" then
    look.pixel = over
  else
    look.sample = function(from, to, clip, pos, p)
      -- Half a pixel away from the seam, so that neither half bleeds into the other.
      local half = 0.5 / clip.size.x
      local x = uv.x / 2
      local film = clip:sample(vec2(min(x, 0.5 - half), uv.y))
      return over(from:at(0, 0), to:at(0, 0), film, clip:sample(vec2(max(x + 0.5, 0.5 + half), uv.y)), p)
    end
  end
  return kernel(look)
end

return function(options)
  local name, cut = options[1] or "stinger", options.cut or 0.5
  if options.matte and options.beside then error("matte and beside are two ways to say it: choose one", 2) end
  local layout = options.matte and "matte" or options.beside and "beside" or "plain"
  local film = clip { name .. " video", file = options.video }
  local both = stinger(layout) { name }
  film >> both.clip
  local matte
  if options.matte then
    matte = clip { name .. " matte", file = options.matte }
    matte >> both.matte
  end
  return {
    from = both.from, to = both.to, output = both,
    play = function(back)
      local goal = back and 0 or 1
      film:play()
      if matte then matte:play() end
      if layout ~= "plain" then both.goal = goal end
      both.shown = keyframes { { 0, 1 - goal }, { cut, goal, "step" } }
    end,
  }
end
