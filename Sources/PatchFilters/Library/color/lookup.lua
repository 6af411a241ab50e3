-- Colours by a lookup picture as GPUImage uses them: 512×512 pixels, 8×8 tiles of 64×64, in each red across and green down,
-- blue from tile to tile. Make one by changing the colours of the neutral lookup picture in any editor; save it as PNG.
--
-- With b = 63 B the tiles floor(b) and floor(b) + 1 are read at (R, G), between four pixels each, and mixed by the fraction of
-- b: trilinear interpolation of a cube of 64³.
-- Working light: encoded, straight; alpha is kept. `intensity` mixes with the original, 0 is neutral.
return kernel {
  summary = "Colours by a 512×512 lookup picture.",
  options = { file = "file" },
  params = { intensity = { 1, min = 0, max = 1, neutral = 0, label = "Intensity" } },
  passes = function(p)
    local t = lookupTable(p.file, "tiles")
    local last = t.size - 1
    return {
      { name = "table", native = "lookupTable", inputs = {}, options = { file = p.file, layout = "tiles" } },
      { inputs = { "image", "table" }, sample = function(image, tab, pos, p)
        local c = image:at(0, 0)
        local at = clamp(c.rgb, 0, 1) * last
        local low = min(floor(at.b), last - 1)
        -- Half a pixel away from its edges, bilinear reading stays inside a slice.
        local place = vec2(at.r, at.g) + 0.5
        local function slice(b) return tab:sample((place + vec2(b * t.size, 0)) / vec2(t.width, t.height)).rgb end
        return vec4(mix(c.rgb, mix(slice(low), slice(low + 1), at.b - low), p.intensity), c.a)
      end },
    }
  end,
}
