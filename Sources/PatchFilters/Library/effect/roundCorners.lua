-- Rounds the picture's corners: outside a rounded rectangle it is see-through, with an edge smoothed over one pixel; a
-- border inside the edge if wanted. Premultiplied encoded values; alpha is multiplied by the shape.
-- radius: 0…0.5 of the shorter side, neutral 0; border: 0…0.25 of the shorter side, neutral 0;
-- borderColor: any.
return kernel {
  summary = "Rounds the corners.",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    radius = { 0.1, min = 0, max = 0.5, neutral = 0, unit = "shorter sides", label = "Radius" },
    border = { 0, min = 0, max = 0.25, neutral = 0, unit = "shorter sides", label = "Border" },
    borderColor = { "#ffffff", label = "Colour of the border" },
  },
  pixel = function(c, p)
    local side = min(size.x, size.y)
    local radius = p.radius * side
    -- Distance from the rounded rectangle's edge in pixels, negative inside.
    local beyond = abs(pos - size / 2) - (size / 2 - radius)
    local edge = length(max(beyond, 0)) + min(max(beyond.x, beyond.y), 0) - radius
    local shape = clamp(0.5 - edge, 0, 1)
    local line = clamp(edge + p.border * side + 0.5, 0, 1) * select(gt(p.border, 0), 1, 0)
    local color = vec4(p.borderColor.rgb * p.borderColor.a, p.borderColor.a)
    return (c * (1 - line * color.a) + color * line) * shape
  end,
}
