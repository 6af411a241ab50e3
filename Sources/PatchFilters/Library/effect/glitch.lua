-- A disturbed transmission: bands of the picture jump sideways, with red and blue apart, differently every 1/rate
-- second. In each moment a share `amount` of the bands jumps, by up to `shift` widths; wraps around. Hashes of band
-- and moment: the same on every run. Nearest pixel; encoded values. Alpha is the unmoved pixel's.
-- amount: 0…1, neutral 0; shift: 0…0.5 widths; split: 0…0.1 widths; bands: 1…200; rate: 0.1…60 a second; seed: 0…1000.
return kernel {
  summary = "Disturbs the picture like a bad transmission.",
  params = {
    amount = { 0.3, min = 0, max = 1, neutral = 0, label = "Amount" },
    shift = { 0.1, min = 0, max = 0.5, unit = "widths", label = "Shift" },
    split = { 0.01, min = 0, max = 0.1, unit = "widths", label = "Colour split" },
    bands = { 24, min = 1, max = 200, label = "Bands" },
    rate = { 12, min = 0.1, max = 60, unit = "1/s", label = "Rate" },
    seed = { 0, min = 0, max = 1000, label = "Seed" },
  },
  sample = function(src, pos, p)
    local moment = floor(time * p.rate) + floor(p.seed) * 100000
    local band = floor(uv.y * p.bands)
    local jumps = select(lt(hash(band, moment), p.amount), 1, 0)
    local by = (hash(band, moment, 1) * 2 - 1) * p.shift * jumps
    local function at(x) return src:sample(vec2(uv.x + by + x * jumps, uv.y), "nearest", "wrap") end
    return vec4(at(-p.split).r, at(0).g, at(p.split).b, src:at(0, 0).a)
  end,
}
