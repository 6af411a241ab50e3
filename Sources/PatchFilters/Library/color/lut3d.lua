-- Colours by a look-up table: .cube (1D or 3D), .3dl, or a HaldCLUT picture.
--
-- 3D: the colour lies in a cell of the cube of N³ entries. "tetrahedral" splits the cell along its grey diagonal into six
-- tetrahedra and weighs the four corners of the one that holds the colour (J. Kasson et al., 1995): with the fractions sorted
-- f1 ≥ f2 ≥ f3, out = (1−f1) T[black] + (f1−f2) T[+axis 1] + (f2−f3) T[+axes 1, 2] + f3 T[white]; greys stay grey. "trilinear"
-- weighs all eight corners. 1D: each channel between its two entries.
-- Working light: encoded, straight; alpha is kept. Colours outside the table's domain take its end. `intensity` mixes with the
-- original, 0 is neutral. precision = "bytes" rounds entries to 255ths and clamps them to 0…1 (half a code of error, three
-- times faster); "halves" keeps 11 bits.

return kernel {
  summary = "Colours by a look-up table: .cube, .3dl, HaldCLUT.",
  options = {
    file = "file",
    interpolation = { "tetrahedral", "trilinear" },
    precision = { "bytes", "halves" },
  },
  params = { intensity = { 1, min = 0, max = 1, neutral = 0, label = "Intensity" } },
  passes = function(p)
    local t = lookupTable(p.file)
    local last = t.size - 1

    -- The entry at a whole place of the cube.
    local function entry(tab, r, g, b)
      local x, y = r, g
      if t.across < t.size then
        local row = floor((b + 0.5) / t.across)
        x, y = r + (b - row * t.across) * t.size, g + row * t.size
      else
        x = r + b * t.size
      end
      return tab:sample(vec2((x + 0.5) / t.width, (y + 0.5) / t.height), "nearest").rgb
    end

    local function tetrahedral(tab, at)
      local cell = min(floor(at), last - 1)
      local f = at - cell
      local largest, smallest = max(max(f.r, f.g), f.b), min(min(f.r, f.g), f.b)
      local middle = f.r + f.g + f.b - largest - smallest
      local redFirst, greenFirst = ge(f.r, f.g) & ge(f.r, f.b), ge(f.g, f.b)
      -- Whoever is first is never last.
      local blueLast, greenLast = le(f.b, f.r) & le(f.b, f.g), le(f.g, f.r)
      local red, green, blue = vec3(1, 0, 0), vec3(0, 1, 0), vec3(0, 0, 1)
      local second = cell + select(redFirst, red, select(greenFirst, green, blue))
      local third = cell + 1 - select(blueLast, blue, select(greenLast, green, red))
      return entry(tab, cell.r, cell.g, cell.b) * (1 - largest)
        + entry(tab, second.r, second.g, second.b) * (largest - middle)
        + entry(tab, third.r, third.g, third.b) * (middle - smallest)
        + entry(tab, cell.r + 1, cell.g + 1, cell.b + 1) * smallest
    end

    local function trilinear(tab, at)
      local cell = min(floor(at), last - 1)
      local f = at - cell
      local function plane(b)
        local function line(g) return mix(entry(tab, cell.r, g, b), entry(tab, cell.r + 1, g, b), f.r) end
        return mix(line(cell.g), line(cell.g + 1), f.g)
      end
      return mix(plane(cell.b), plane(cell.b + 1), f.b)
    end

    local function curves(tab, at)
      local cell = min(floor(at), last - 1)
      local f = at - cell
      local function channel(letter)
        local function point(i)
          local row = floor((i + 0.5) / t.across)
          return tab:sample(vec2((i - row * t.across + 0.5) / t.width, (row + 0.5) / t.height), "nearest")[letter]
        end
        return mix(point(cell[letter]), point(cell[letter] + 1), f[letter])
      end
      return vec3(channel "r", channel "g", channel "b")
    end

    local read = t.shape == "curves" and curves or p.interpolation == "trilinear" and trilinear or tetrahedral
    -- Bytes would show as steps where a curve is steep.
    local precision = t.shape == "curves" and "halves" or p.precision
    local low, range = {}, {}
    for i = 1, 3 do low[i], range[i] = t.low[i], t.high[i] - t.low[i] end
    return {
      { name = "table", native = "lookupTable", inputs = {}, options = { file = p.file, precision = precision } },
      { inputs = { "image", "table" }, sample = function(image, tab, pos, p)
        local c = image:at(0, 0)
        local at = (c.rgb - vec3(low[1], low[2], low[3])) / vec3(range[1], range[2], range[3])
        return vec4(mix(c.rgb, read(tab, clamp(at, 0, 1) * last), p.intensity), c.a)
      end },
    }
  end,
}
