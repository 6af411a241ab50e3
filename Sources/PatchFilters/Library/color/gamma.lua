-- A power curve: rgb ^ gamma on encoded values, as GPUImage's (above 1 darkens, below 1 lightens). Alpha is kept.
-- gamma: 0…3, neutral 1; at 0 everything but black is white. Values below 0 count as 0.
return kernel {
  summary = "Bends the middle tones with a power curve.",
  params = { gamma = { 1, min = 0, max = 3, neutral = 1, label = "Gamma" } },
  pixel = function(c, p)
    -- Exactly the picture at 1, also where the picture is beyond 0…1.
    return vec4(select(eq(p.gamma, 1), c.rgb, pow(max(c.rgb, 0), vec3(p.gamma))), c.a)
  end,
}
