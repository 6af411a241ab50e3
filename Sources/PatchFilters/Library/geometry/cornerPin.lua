-- Pins the picture's corners to four places: a projective map, as onto a wall or a screen seen from the side.
-- Bilinear, on premultiplied encoded values; alpha moves with the colour. Outside the four corners nothing is seen.
-- Heckbert's square-to-quadrilateral map, inverted. topLeft, topRight, bottomRight, bottomLeft: uv
-- of the result, -2…3; they must go round clockwise or counter-clockwise and be convex; three on a line make a picture
-- without meaning (but finite). Neutral: the frame's own corners.
return kernel {
  summary = "Pins the four corners of the picture to places.",
  space = "any",
  size = "optional",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    topLeft = { { 0, 0 }, min = -2, max = 3, neutral = { 0, 0 }, label = "Top left" },
    topRight = { { 1, 0 }, min = -2, max = 3, neutral = { 1, 0 }, label = "Top right" },
    bottomRight = { { 1, 1 }, min = -2, max = 3, neutral = { 1, 1 }, label = "Bottom right" },
    bottomLeft = { { 0, 1 }, min = -2, max = 3, neutral = { 0, 1 }, label = "Bottom left" },
  },
  sample = function(src, pos, p)
    local function safe(x) return select(lt(abs(x), 0.000001), 0.000001, x) end
    local p0, p1, p2, p3 = p.topLeft, p.topRight, p.bottomRight, p.bottomLeft
    local bend, d1, d2 = p0 - p1 + p2 - p3, p1 - p2, p3 - p2
    local area = safe(d1.x * d2.y - d2.x * d1.y)
    local g, h = (bend.x * d2.y - d2.x * bend.y) / area, (d1.x * bend.y - bend.x * d1.y) / area
    local across, down = p1 - p0 + g * p1, p3 - p0 + h * p3
    -- The square's corner (u, v) goes to (across u + down v + p0) / (g u + h v + 1); backwards by the adjugate matrix.
    local u = (down.y - p0.y * h) * uv.x + (p0.x * h - down.x) * uv.y + down.x * p0.y - p0.x * down.y
    local v = (p0.y * g - across.y) * uv.x + (across.x - p0.x * g) * uv.y + p0.x * across.y - across.x * p0.y
    local w = (across.y * h - down.y * g) * uv.x + (down.x * g - across.x * h) * uv.y + across.x * down.y - down.x * across.y
    return src:sample(vec2(u, v) / safe(w), "bilinear", "transparent")
  end,
}
