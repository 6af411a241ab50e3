-- A line of one colour around what is not see-through: the largest alpha at 16 places on each of two rings (radius and
-- half of it), under the picture. Bilinear on premultiplied encoded values; alpha grows by the line.
-- width: 0…0.05 of the picture's height, neutral 0; color: any.
return kernel {
  summary = "Draws a line around what is not see-through.",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    width = { 0.005, min = 0, max = 0.05, neutral = 0, unit = "heights", label = "Width" },
    color = { "#ffffff", label = "Colour" },
  },
  sample = function(src, pos, p)
    local c = src:at(0, 0)
    local reach = vec2(p.width * size.y / size.x, p.width)
    local most = c.a
    for ring = 1, 2 do
      for i = 0, 15 do
        local angle = i * 6.28318531 / 16
        local place = uv + reach * (ring / 2) * vec2(cos(angle), sin(angle))
        most = max(most, src:sample(place, "bilinear", "transparent").a)
      end
    end
    -- The line fades in over its first pixel, so that no width is no line.
    local line = vec4(p.color.rgb * p.color.a, p.color.a) * (most * clamp(p.width * size.y, 0, 1))
    return c + line * (1 - c.a)
  end,
}
