-- Puts a margin around the picture, which shrinks into what is left of the frame (or give the result a greater size =
-- "WxH").
-- Bilinear, on premultiplied encoded values; alpha moves with the colour.
-- left, top, right, bottom: 0…0.9 of the frame; two margins that leave nothing show only colour. color: of the margins.
-- Neutral: all 0.
local places = require "library.places"

return kernel {
  summary = "Puts a margin around the picture.",
  space = "any",
  size = "optional",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    left = { 0, min = 0, max = 0.9, neutral = 0, label = "Left" },
    top = { 0, min = 0, max = 0.9, neutral = 0, label = "Top" },
    right = { 0, min = 0, max = 0.9, neutral = 0, label = "Right" },
    bottom = { 0, min = 0, max = 0.9, neutral = 0, label = "Bottom" },
    color = { "#000000", label = "Colour" },
  },
  sample = function(src, pos, p)
    local low, high = vec2(p.left, p.top), vec2(1 - p.right, 1 - p.bottom)
    local extent = max(high - low, 0.00001)
    local inside = all(ge(uv, low)) & all(le(uv, high))
    local place = (uv - low) / extent
    local step = 1 / (size * extent)
    local picture = places.area(src, place, step)
    return select(inside, picture, vec4(p.color.rgb * p.color.a, p.color.a))
  end,
}
