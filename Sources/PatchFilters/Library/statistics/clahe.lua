-- Contrast limited adaptive histogram equalization (Zuiderveld 1994): the picture is cut into 8x8 tiles; each tile's histogram of luma,
-- cut at clipLimit times its mean and with what was cut spread evenly, makes a curve; each pixel takes the four nearest tiles'
-- curves, interpolated. Red, green and blue move by as much as the luma.
--
-- Luma .2125 .7154 .0721 of encoded values in 256 steps, straight alpha, which is kept. clipLimit: 1…40. intensity: 0…1; 0 changes
-- nothing.
return kernel {
  summary = "Brings out local contrast without noise.",
  params = {
    clipLimit = { 3, min = 1, max = 40, label = "Clip limit" },
    intensity = { 1, min = 0, max = 1, neutral = 0, label = "Intensity" },
  },
  passes = {
    { name = "curves", native = "clahe", params = { clipLimit = "clipLimit" } },
    { inputs = { "image", "curves" }, sample = function(image, curves, _, p)
      local c = image:at(0, 0)
      local luma = clamp(dot(c.rgb, vec3(0.2125, 0.7154, 0.0721)), 0, 1)
      local column = (floor(luma * 255 + 0.5) + 0.5) / 256
      -- Tiles count from the centre of the first one.
      local place = uv * 8 - 0.5
      local whole = floor(place)
      local part = place - whole
      local function curve(x, y)
        local tile = clamp(whole + vec2(x, y), 0, 7)
        return curves:sample(vec2(column, (tile.y * 8 + tile.x + 0.5) / 64), "nearest").r
      end
      local above = mix(curve(0, 0), curve(1, 0), part.x)
      local below = mix(curve(0, 1), curve(1, 1), part.x)
      return vec4(c.rgb + p.intensity * (mix(above, below, part.y) - luma), c.a)
    end },
  },
}
