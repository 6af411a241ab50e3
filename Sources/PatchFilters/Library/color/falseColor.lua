-- Two colours: from `first` at black to `second` at white, by luminance, as GPUImage's. Encoded values. Alpha is kept.
-- first, second: any colour; amount: 0…1, neutral 0.
return kernel {
  summary = "From one colour in the shadows to another in the lights.",
  params = {
    first = { "#000080", label = "Shadows" },
    second = { "#ff0000", label = "Lights" },
    amount = { 1, min = 0, max = 1, neutral = 0, label = "Amount" },
  },
  pixel = function(c, p)
    local grey = dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))
    return vec4(mix(c.rgb, mix(p.first.rgb, p.second.rgb, grey), p.amount), c.a)
  end,
}
