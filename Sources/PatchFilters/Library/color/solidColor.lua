-- One colour in place of the picture, with its own alpha, as GPUImage's; useExistingAlpha multiplies by the picture's.
-- Encoded straight values. Alpha is what the colour says. (A source of one colour: color{ rgba = "#…" }.)
-- color: any; amount: 0…1, neutral 0.
return kernel {
  summary = "Fills the picture with one colour.",
  keepsAlpha = false,
  params = {
    color = { "#000000", label = "Colour" },
    amount = { 1, min = 0, max = 1, neutral = 0, label = "Amount" },
    useExistingAlpha = { false, label = "Keep the picture's alpha" },
  },
  pixel = function(c, p)
    local alpha = select(p.useExistingAlpha, p.color.a * c.a, p.color.a)
    return mix(c, vec4(p.color.rgb, alpha), p.amount)
  end,
}
