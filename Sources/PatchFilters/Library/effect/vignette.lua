-- Fades to a colour towards the corners, as GPUImage's: by the distance from `center` in uv, smoothly from `start` to
-- `finish`. Encoded values. Alpha is kept.
-- start: 0…2, finish: 0…2 of the picture's sides; center: uv. amount: 0…1, neutral 0; color: any.
return kernel {
  summary = "Fades towards the corners.",
  space = "any",
  params = {
    amount = { 1, min = 0, max = 1, neutral = 0, label = "Amount" },
    center = { { 0.5, 0.5 }, min = 0, max = 1, label = "Centre" },
    color = { "#000000", label = "Colour" },
    start = { 0.3, min = 0, max = 2, label = "Start" },
    finish = { 0.75, min = 0, max = 2, label = "End" },
  },
  pixel = function(c, p)
    local shade = smoothstep(p.start, max(p.finish, p.start + 0.0001), distance(uv, p.center))
    return vec4(mix(c.rgb, p.color.rgb, shade * p.amount), c.a)
  end,
}
