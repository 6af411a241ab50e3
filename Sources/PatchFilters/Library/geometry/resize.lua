-- The whole picture at another size, given with size = "640x360": bilinear, on premultiplied encoded values, so that
-- see-through edges keep their colour. Alpha is resampled like the colour. The same size is the neutral value.
-- Shrinking to less than half skips pixels.
return kernel {
  summary = "Gives the picture another size.",
  space = "any",
  size = "required",
  alpha = "premultiplied",
  pixel = function(c) return c end,
}
