-- White where the luminance (.2125 .7154 .0721, encoded) reaches the threshold, else black, as GPUImage's. Alpha is kept.
-- threshold: 0…1.
return kernel {
  summary = "Black and white by a threshold.",
  params = { threshold = { 0.5, min = 0, max = 1, label = "Threshold" } },
  pixel = function(c, p) return vec4(vec3(step(p.threshold, dot(c.rgb, vec3(0.2125, 0.7154, 0.0721)))), c.a) end,
}
