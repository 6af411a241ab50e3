-- graphs/looks/warm.lua: used as  local warm = require "looks.warm";  cam >> warm{ amount = 0.4 } >> view
return kernel {
  summary = "Warms or cools the picture.",
  params  = { amount = { 0.3, min = -1, max = 1, neutral = 0, label = "Warmth" } },
  light   = "encoded",
  pixel   = function(c, p) return vec4(c.r * (1 + 0.2*p.amount), c.g, c.b * (1 - 0.2*p.amount), c.a) end,
}
