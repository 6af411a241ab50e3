-- A filled circle over the picture: `color` within `radius`, its edge smoothed over one pixel.
--
-- Source-over of straight encoded colours. center: 0…1 of the picture, from the upper left; radius: 0…2 of the picture's
-- height; opacity: 0…1; 0 changes nothing. Alpha: the circle's, over the picture's.
return kernel {
  summary = "Draws a filled circle.",
  keepsAlpha = false,
  alpha = "premultiplied",
  params = {
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
    radius = { 0.25, min = 0, max = 2, label = "Radius" },
    color = { "#ff0000", label = "Colour" },
    opacity = { 1, min = 0, max = 1, neutral = 0, label = "Opacity" },
  },
  pixel = function(c, p)
    local away = length((uv - p.center) * vec2(size.x, size.y))
    local cover = clamp(p.radius * size.y - away + 0.5, 0, 1) * p.opacity * p.color.a
    return vec4(p.color.rgb * cover, cover) + c * (1 - cover)
  end,
}
