-- A stinger: a video with alpha that plays once over the cut between two pictures.
--
--   local sting = require "looks.stinger" { "sting", video = "assets/swoosh.mov", cut = 0.4 }
--   one >> sting.from
--   two >> sting.to
--   sting.output >> view
--   onKey("space", function() sting.play() end)
--
-- cut: seconds after the beginning at which the picture changes, under the video. matte (another video, optional): where it
-- is white the new picture shows before the cut; it must be white all over at the cut. play(true) goes back.
local function plain()
  return kernel {
    summary = "A clip over one of two pictures.",
    inputs  = { "from", "to", "clip" },
    alpha   = "premultiplied",
    params  = { shown = { 0, min = 0, max = 1, label = "The second picture" } },
    pixel   = function(from, to, clip, p) return clip + mix(from, to, p.shown) * (1 - clip.a) end,
  }
end

local function matted()
  return kernel {
    summary = "A clip over two pictures that a matte mixes.",
    inputs  = { "from", "to", "clip", "matte" },
    alpha   = "premultiplied",
    params  = {
      shown = { 0, min = 0, max = 1, label = "The second picture" },
      goal  = { 0, min = 0, max = 1, label = "Where it goes" },
    },
    pixel = function(from, to, clip, matte, p)
      local white = dot(matte.rgb, vec3(0.2126, 0.7152, 0.0722))
      local under = mix(mix(from, to, p.shown), mix(from, to, p.goal), clamp(white, 0, 1))
      return clip + under * (1 - clip.a)
    end,
  }
end

return function(options)
  local name, cut = options[1] or "stinger", options.cut or 0.5
  local film = clip { name .. " video", file = options.video }
  local both = options.matte and matted() { name } or plain() { name }
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
      if matte then
        matte:play()
        both.goal = goal
      end
      both.shown = keyframes { { 0, 1 - goal }, { cut, goal, "step" } }
    end,
  }
end
