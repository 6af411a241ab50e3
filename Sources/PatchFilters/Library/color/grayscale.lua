-- Luminance in every channel: .2125 .7154 .0721 on encoded values, as GPUImage's. Alpha is kept.
-- amount: 0…1, neutral 0; at 1 nothing of the colour is left.
return kernel {
  summary = "Takes the colour out.",
  params = { amount = { 1, min = 0, max = 1, neutral = 0, label = "Amount" } },
  pixel = function(c, p)
    return vec4(mix(c.rgb, vec3(dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))), p.amount), c.a)
  end,
}
