-- Passes that compute the mean of the square around each pixel.
local means = {}

-- A list of passes from `input` on: across, then down. Every window is centred, of 1, 3, 9, 27 … pixels, each made of three of
-- the one before; the wanted one of 2 radius + 1 pixels is a sum of such windows side by side. At an edge a window that lies
-- outside is read from the edge itself; only its own pixels inside make it differ from the edge's, by at most its half width.
function means.square(input, radius, channels)
  local passes = {}
  local function line(from, dx, dy, name)
    local wanted = 2 * radius + 1
    if wanted <= 25 then
      passes[#passes + 1] = { name = name, inputs = { from }, channels = channels, sample = function(src)
        local sum = src:at(0, 0)
        for i = 1, radius do sum = sum + (src:at(i * dx, i * dy) + src:at(-i * dx, -i * dy)) end
        return sum / wanted
      end }
      return
    end
    -- The longest odd window whose square is not longer than what is wanted, then that one summed.
    local part = 5
    while (part + 2) * (part + 2) <= wanted do part = part + 2 end
    local half = part // 2
    passes[#passes + 1] = { name = name .. "Part", inputs = { from }, channels = channels, sample = function(src)
      local sum = src:at(0, 0)
      for i = 1, half do sum = sum + (src:at(i * dx, i * dy) + src:at(-i * dx, -i * dy)) end
      return sum / part
    end }
    -- Whole windows from the middle outwards, then the pixels that are left on both sides.
    passes[#passes + 1] = { name = name, inputs = { name .. "Part", from }, channels = channels, sample = function(parts, src)
      local count = wanted // part
      if count % 2 == 0 then count = count - 1 end
      local sum = parts:at(0, 0)
      for i = 1, count // 2 do
        sum = sum + (parts:at(i * part * dx, i * part * dy) + parts:at(-i * part * dx, -i * part * dy))
      end
      sum = sum * part
      for i = (count * part) // 2 + 1, radius do sum = sum + (src:at(i * dx, i * dy) + src:at(-i * dx, -i * dy)) end
      return sum / wanted
    end }
  end
  line(input, 1, 0, "meanAcross")
  line("meanAcross", 0, 1, "meanDown")
  return passes
end

return means
