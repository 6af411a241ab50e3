-- Lays one picture, such as a text, over another at its own size: `anchor` of the picture lies on `position` of the frame,
-- both from 0, 0 (top left) to 1, 1 (bottom right); {1, 0} at {0.98, 0.04} is a corner bug. `shift` moves it in pixels.
-- Whole pixels stay whole, so that letters are sharp; while `scale` is not 1 it is resampled.
-- Source-over on premultiplied colour: p · opacity + c · (1 − p.a · opacity). Neutral at opacity 0.
return kernel {
  summary = "Lays a picture over another at its own size.",
  inputs = { "image", "picture" },
  alpha = "premultiplied",
  params = {
    position = { { 0.5, 0.5 }, min = -2, max = 3, label = "Position" },
    anchor   = { { 0.5, 0.5 }, min = 0, max = 1, label = "Anchor" },
    shift    = { { 0, 0 }, min = -8192, max = 8192, unit = "px", label = "Shift" },
    scale    = { 1, min = 0.05, max = 20, label = "Scale" },
    opacity  = { 1, min = 0, max = 1, neutral = 0, label = "Opacity" },
  },
  sample = function(image, picture, pos, p)
    local corner = floor(size * p.position - picture.size * p.anchor * p.scale + p.shift + 0.5)
    local over = picture:sample((pos - corner) / (picture.size * p.scale), "bilinear", "transparent") * p.opacity
    return over + image:at(0, 0) * (1 - over.a)
  end,
}
