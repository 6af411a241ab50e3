-- Shows a part of the picture, as large as the result is (size = "640x360"; else the first input's size). Bilinear, on
-- premultiplied encoded values; alpha moves with the colour.
-- Only pixels of the part are read. GPUImage's crop has the size of the part: give it as size.
-- x, y: of the top left corner; width, height: all 0…1 of the picture. A part that goes beyond the picture ends at its
-- edge.
-- Neutral: 0, 0, 1, 1.
return kernel {
  summary = "Shows a part of the picture.",
  space = "any",
  size = "optional",
  alpha = "premultiplied",
  space = "any",
  keepsAlpha = false,
  params = {
    x = { 0, min = 0, max = 1, neutral = 0, label = "Left" },
    y = { 0, min = 0, max = 1, neutral = 0, label = "Top" },
    width = { 1, min = 0.001, max = 1, neutral = 1, label = "Width" },
    height = { 1, min = 0.001, max = 1, neutral = 1, label = "Height" },
  },
  sample = function(src, pos, p)
    local low = vec2(p.x, p.y)
    local high = min(low + vec2(p.width, p.height), vec2(1))
    local half = min(0.5 / src.size, (high - low) / 2)
    return src:sample(clamp(mix(low, high, uv), low + half, high - half))
  end,
}
