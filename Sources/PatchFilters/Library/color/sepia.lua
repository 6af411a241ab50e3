-- The brown of old prints: a colour matrix, mixed in by intensity. Encoded values; GPUImage's matrix. Alpha is kept.
-- intensity: 0…1, neutral 0.
return kernel {
  summary = "The brown tone of old prints.",
  params = { intensity = { 1, min = 0, max = 1, neutral = 0, label = "Intensity" } },
  pixel = function(c, p)
    local sepia = vec3(
      dot(c.rgb, vec3(0.3588, 0.7044, 0.1368)),
      dot(c.rgb, vec3(0.2990, 0.5870, 0.1140)),
      dot(c.rgb, vec3(0.2392, 0.4696, 0.0912)))
    return vec4(mix(c.rgb, sepia, p.intensity), c.a)
  end,
}
