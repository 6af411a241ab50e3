-- Keeps what lies inside a quadrilateral, whose corners go round it either way; softness fades over that many of the
-- picture's heights inwards from each side. invert keeps the outside. It must be convex: where it is not, the part that all
-- four sides agree on stays. Encoded colour, premultiplied alpha: the picture's times the share.
-- topLeft, topRight, bottomRight, bottomLeft: uv, -1…2 (0, 0 is the top left); softness: 0…1. The default keeps the
-- whole picture.
-- background (optional): what shows outside; without it the outside is see-through.
local key = require "library.key"

return kernel {
  summary = "Cuts away what lies outside four corners.",
  inputs = { "foreground", "background" },
  optional = { background = "#00000000" },
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    topLeft = { { 0, 0 }, min = -1, max = 2, neutral = { 0, 0 }, label = "Top left" },
    topRight = { { 1, 0 }, min = -1, max = 2, neutral = { 1, 0 }, label = "Top right" },
    bottomRight = { { 1, 1 }, min = -1, max = 2, neutral = { 1, 1 }, label = "Bottom right" },
    bottomLeft = { { 0, 1 }, min = -1, max = 2, neutral = { 0, 1 }, label = "Bottom left" },
    softness = { 0, min = 0, max = 1, unit = "heights", neutral = 0, label = "Softness" },
    invert = { false, label = "Keep the outside" },
  },
  pixel = function(image, background, p)
    -- In heights, so that softness is the same in all directions.
    local shape = vec2(size.x / size.y, 1)
    local corners = { p.topLeft * shape, p.topRight * shape, p.bottomRight * shape, p.bottomLeft * shape }
    local area = 0
    for i = 1, 4 do
      local a, b = corners[i], corners[i % 4 + 1]
      area = area + a.x * b.y - b.x * a.y
    end
    local turn = select(ge(area, 0), 1.0, -1.0)
    local here = uv * shape
    local inside = 1
    for i = 1, 4 do
      local a, b = corners[i], corners[i % 4 + 1]
      local side = b - a
      -- How far the pixel lies inside this side; a side without length keeps everything.
      local depth = ((here.y - a.y) * side.x - (here.x - a.x) * side.y) * turn / max(length(side), 0.00001)
      inside = min(inside, clamp((depth + 0.00001) / max(p.softness, 0.00001), 0, 1))
    end
    return key.over(image, background, select(p.invert, 1 - inside, inside))
  end,
}
