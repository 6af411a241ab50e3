-- A band in focus, the rest blurred: mix(image, Gaussian of sigma, away), where away rises from 0 in the band to 1 over falloff
-- beyond it, above and below: 1 - smoothstep(top - falloff, top, y) + smoothstep(bottom, bottom + falloff, y).
--
-- Encoded values; premultiplied; alpha is blurred with the colour. sigma: 0…50 pixels; 0 changes nothing. top and bottom: 0…1 of
-- the picture from above; falloff: 0…1, 0 is a hard edge. With top below bottom's place both blurs meet; away is cut at 1.
return kernel {
  summary = "Looks like a miniature: a band in focus, the rest blurred.",
  space = "any",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = {
    sigma = { 7, min = 0, max = 50, neutral = 0, label = "Blur", unit = "px" },
    top = { 0.4, min = 0, max = 1, label = "Top of the focus" },
    bottom = { 0.6, min = 0, max = 1, label = "Bottom of the focus" },
    falloff = { 0.2, min = 0, max = 1, label = "Falloff" },
  },
  passes = {
    { name = "blurred", native = "gaussian", params = { sigma = "sigma" } },
    { space = "any", inputs = { "image", "blurred" }, pixel = function(image, blurred, p)
      local falloff = max(p.falloff, 0.0001)
      local away = 1 - smoothstep(p.top - falloff, p.top, uv.y) + smoothstep(p.bottom, p.bottom + falloff, uv.y)
      return mix(image, blurred, min(away, 1))
    end },
  },
}
