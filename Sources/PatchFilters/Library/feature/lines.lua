-- Draws a line of `color` from one point to another, with round ends and an edge that is smoothed over one pixel.
--
-- Source-over of encoded, premultiplied colours. from and to: 0…1 of the picture, from the upper left. width: 0…1 of the picture's
-- height. opacity: 0…1; 0 changes nothing. Alpha: the line's, over the picture's.
return kernel {
  summary = "Draws a line.",
  keepsAlpha = false,
  alpha = "premultiplied",
  params = {
    from = { { 0.1, 0.5 }, min = 0, max = 1, label = "From" },
    to = { { 0.9, 0.5 }, min = 0, max = 1, label = "To" },
    width = { 0.01, min = 0, max = 1, label = "Width" },
    color = { "#ff0000", label = "Colour" },
    opacity = { 1, min = 0, max = 1, neutral = 0, label = "Opacity" },
  },
  pixel = function(c, p)
    local way = (p.to - p.from) * size
    local here = (uv - p.from) * size
    local along = clamp(dot(here, way) / max(dot(way, way), 0.0001), 0, 1)
    local away = length(here - way * along)
    local cover = clamp(p.width * size.y / 2 - away + 0.5, 0, 1) * p.opacity * p.color.a
    return vec4(p.color.rgb * cover, cover) + c * (1 - cover)
  end,
}
