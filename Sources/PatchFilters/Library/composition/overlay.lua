-- Lays a picture over another at a place of its own: source over (Porter and Duff), alpha and premultiplied colour, bilinear where
-- it is resized, soft where its edges fall between pixels. Working light: encoded, or linear where
-- the graph asks for it.
-- x, y: its top left corner in pixels of the frame, outside too; width, height: its size there, 0 its own (with the other
-- one given: in its shape); opacity: 0…1, neutral 0. Every value may change on air.
return kernel {
  summary = "Lays a picture over another at a place of its own.",
  inputs = { "image", "overlay" },
  light = "graph",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    x = { 0, min = -16384, max = 16384, unit = "px", label = "From the left" },
    y = { 0, min = -16384, max = 16384, unit = "px", label = "From the top" },
    width = { 0, min = 0, max = 16384, unit = "px", label = "Width" },
    height = { 0, min = 0, max = 16384, unit = "px", label = "Height" },
    opacity = { 1, min = 0, max = 1, neutral = 0, label = "Opacity" },
  },
  sample = function(image, overlay, pos, p)
    local own = overlay.size
    local width = select(gt(p.width, 0), p.width, select(gt(p.height, 0), p.height * own.x / own.y, own.x))
    local height = select(gt(p.height, 0), p.height, select(gt(p.width, 0), p.width * own.y / own.x, own.y))
    local extent = max(vec2(width, height), vec2(1))
    local place = pos - vec2(p.x, p.y)
    local covered = clamp(min(place, extent - place) + 0.5, 0, 1)
    local over = overlay:sample(place / extent) * (covered.x * covered.y * p.opacity)
    return over + image:at(0, 0) * (1 - over.a)
  end,
}
