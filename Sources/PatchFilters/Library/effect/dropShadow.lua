-- A soft shadow of the picture's alpha, moved and blurred, under it. The blur: two passes of 13 reads weighted by a
-- Gaussian of `blur` (sigma), spaced so that they span three sigmas each way. Premultiplied encoded values; alpha
-- grows by the shadow.
-- offset: -0.5…0.5 of the picture's height (right, down); blur: 0…0.1 heights; opacity: 0…1, neutral 0; color: any.
local function blurred(across)
  return function(src, pos, p)
    local spacing = p.blur * 0.5 * (across and vec2(size.y / size.x, 0) or vec2(0, 1))
    local sum, total = 0, 0
    for i = -6, 6 do
      -- i half sigmas out: exp(-(i/2)^2 / 2).
      local weight = exp(-i * i / 8)
      local read = src:sample(uv + spacing * i, "bilinear", "transparent")
      sum = sum + (across and read.a or read.r) * weight
      total = total + weight
    end
    return vec4(vec3(sum / total), 1)
  end
end

return kernel {
  summary = "Casts a soft shadow below what is not see-through.",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    offset = { { 0.02, 0.02 }, min = -0.5, max = 0.5, unit = "heights", label = "Offset" },
    blur = { 0.01, min = 0, max = 0.1, unit = "heights", label = "Softness" },
    opacity = { 0.6, min = 0, max = 1, neutral = 0, label = "Opacity" },
    color = { "#000000", label = "Colour" },
  },
  passes = {
    { name = "across", channels = 1, sample = blurred(true) },
    { name = "shadow", channels = 1, sample = blurred(false) },
    { inputs = { "image", "shadow" }, sample = function(image, shadow, pos, p)
      local c = image:at(0, 0)
      local place = uv - p.offset * vec2(size.y / size.x, 1)
      local dark = shadow:sample(place, "bilinear", "transparent").r * p.opacity * p.color.a
      return c + vec4(p.color.rgb, 1) * dark * (1 - c.a)
    end },
  },
}
