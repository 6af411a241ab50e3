-- The look of a fisheye lens: a place at r half diagonals from the centre shows what a straight lens has at
-- tan(r a) / tan(a), a = amount * 80 degrees: the middle swells, the corners stay. Bilinear, on premultiplied encoded
-- values; alpha moves with the colour.
-- amount: 0…1, neutral 0; center: uv.
local places = require "library.places"

return kernel {
  summary = "Bends the picture like a fisheye lens.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    amount = { 0.7, min = 0, max = 1, neutral = 0, label = "Amount" },
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
  },
  sample = function(src, pos, p)
    local shape = places.inHeights()
    local away = uv - p.center
    local r = length(away * shape) * 2 / length(shape)
    local a = radians(max(p.amount, 0.001) * 80)
    -- Beyond a right angle there is nothing to see; a place off the centre may ask for it.
    local read = tan(min(r * a, 1.5)) / tan(a)
    return src:sample(p.center + away * read / max(r, 0.0001))
  end,
}
