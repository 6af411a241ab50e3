-- A soft shadow of the picture's alpha, moved and blurred by a Gaussian, under it; beyond the picture its edge goes on.
-- Premultiplied encoded values; alpha grows by the shadow.
-- offset: -0.5…0.5 of the picture's height (right, down); blur: 0…0.1 heights (sigma); opacity: 0…1, neutral 0; color: any.
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
    { name = "alpha", channels = 1, pixel = function(c) return vec4(vec3(c.a), 1) end },
    { name = "shadow", native = "gaussian", inputs = { "alpha" }, params = { heights = "blur" } },
    { inputs = { "image", "shadow" }, sample = function(image, shadow, pos, p)
      local c = image:at(0, 0)
      local place = uv - p.offset * vec2(size.y / size.x, 1)
      local dark = shadow:sample(place).r * p.opacity * p.color.a
      return c + vec4(p.color.rgb, 1) * dark * (1 - c.a)
    end },
  },
}
