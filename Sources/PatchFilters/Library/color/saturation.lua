-- Mixes with the luminance: mix(Y, rgb, saturation), Y = .2125 .7154 .0721 on encoded values, as GPUImage's. Alpha is kept.
-- saturation: 0…2, neutral 1; at 0 the picture is grey, beyond 1 colours move away from grey.
return kernel {
  summary = "Makes colours stronger or paler.",
  params = { saturation = { 1, min = 0, max = 2, neutral = 1, label = "Saturation" } },
  pixel = function(c, p)
    local grey = dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))
    return vec4(mix(vec3(grey), c.rgb, p.saturation), c.a)
  end,
}
