-- A tone curve for each channel and one for all: natural cubic splines through the values at 0, 1/4, 1/2, 3/4 and 1. First
-- the channel's own curve, then the one for all, as in GPUImage. Encoded values. Alpha is kept.
-- red, green, blue, all: the values at 1/4, 1/2, 3/4, 0…1; black, white: red's, green's and blue's values at 0 and 1. What
-- the curves reach beyond 0…1 is clipped. Neutral: the diagonals, for pictures within 0…1.
local curve = require "library.curve"

return kernel {
  summary = "Bends red, green and blue along a curve each.",
  params = {
    red = { { 0.25, 0.5, 0.75 }, min = 0, max = 1, neutral = { 0.25, 0.5, 0.75 }, label = "Red" },
    green = { { 0.25, 0.5, 0.75 }, min = 0, max = 1, neutral = { 0.25, 0.5, 0.75 }, label = "Green" },
    blue = { { 0.25, 0.5, 0.75 }, min = 0, max = 1, neutral = { 0.25, 0.5, 0.75 }, label = "Blue" },
    all = { { 0.25, 0.5, 0.75 }, min = 0, max = 1, neutral = { 0.25, 0.5, 0.75 }, label = "All channels" },
    black = { { 0, 0, 0 }, min = 0, max = 1, neutral = { 0, 0, 0 }, label = "Black" },
    white = { { 1, 1, 1 }, min = 0, max = 1, neutral = { 1, 1, 1 }, label = "White" },
  },
  pixel = function(c, p)
    local x = { 0, 0.25, 0.5, 0.75, 1 }
    local function bend(v, black, inner, white)
      return clamp(curve.spline(v, x, { black, inner.x, inner.y, inner.z, white }), 0, 1)
    end
    local own = vec3(
      bend(c.r, p.black.r, p.red, p.white.r),
      bend(c.g, p.black.g, p.green, p.white.g),
      bend(c.b, p.black.b, p.blue, p.white.b))
    return vec4(bend(own, 0, p.all, 1), c.a)
  end,
}
