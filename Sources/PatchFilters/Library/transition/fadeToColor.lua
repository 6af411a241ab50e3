-- Fades to a colour and from it to the other picture: with s = 1 - |2 progress - 1| the colour's share, from before
-- the middle and to after it: (1 - s) picture + s colour, premultiplied encoded colour, alpha alike.
-- progress: 0…1, neutral 0; color: with alpha 0 it dips to nothing.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Fades through a colour.",
  params = { color = { "#000000", label = "Colour" } },
  pixel = function(from, to, p)
    local share = 1 - abs(2 * p.progress - 1)
    local color = vec4(p.color.rgb * p.color.a, p.color.a)
    return mix(select(lt(p.progress, 0.5), from, to), color, share)
  end,
})
