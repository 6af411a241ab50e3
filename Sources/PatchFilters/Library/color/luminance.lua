-- Luminance in every channel, GPUImage's weights .2125 .7154 .0721 on encoded values: grayscale without a knob.
-- No neutral value. Alpha is kept.
return kernel {
  summary = "Shows the luminance.",
  pixel = function(c) return vec4(vec3(dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))), c.a) end,
}
