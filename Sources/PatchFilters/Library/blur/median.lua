-- Each channel becomes the median of its neighbourhood of (2 radius + 1)^2 pixels: specks vanish, edges stay.
--
-- Encoded values, straight alpha, which is kept. radius: 1…64 pixels. Up to 2 exact: the least and the greatest of a growing set
-- are dropped until one is left. Beyond, the median of 8-bit codes, from histograms that move along (the native operator `median`),
-- at a cost that does not grow with the radius.
local function median(values)
  -- Of n values the median cannot be an end of any n/2 + 2 of them: drop both ends, take the next one in.
  local count = #values
  local held = {}
  local first = count // 2 + 2
  for i = 1, first do held[i] = values[i] end
  for next = first + 1, count + 1 do
    -- The least to the front, the greatest to the back, in 3n/2 comparisons.
    local n = #held
    for i = 1, n // 2 do
      local a, b = held[i], held[n + 1 - i]
      held[i], held[n + 1 - i] = min(a, b), max(a, b)
    end
    for i = 2, (n + 1) // 2 do
      local a, b = held[1], held[i]
      held[1], held[i] = min(a, b), max(a, b)
    end
    for i = n // 2 + 1, n - 1 do
      local a, b = held[i], held[n]
      held[i], held[n] = min(a, b), max(a, b)
    end
    table.remove(held)
    table.remove(held, 1)
    if next <= count then held[#held + 1] = values[next] end
  end
  return held[1]
end

return kernel {
  summary = "Removes specks and keeps edges.",
  options = { radius = { 1, min = 1, max = 64 } },
  passes = function(p)
    local radius = p.radius
    if radius > 2 then
      return {
        { name = "opaque", channels = 3, pixel = function(c) return vec4(c.rgb, 1) end },
        { name = "median", native = "median", inputs = { "opaque" }, options = { radius = radius } },
        { inputs = { "median", "image" }, pixel = function(m, image) return vec4(m.rgb, image.a) end },
      }
    end
    return { {
      sample = function(src)
        local values = {}
        for y = -radius, radius do
          for x = -radius, radius do values[#values + 1] = src:at(x, y).rgb end
        end
        return vec4(median(values), src:at(0, 0).a)
      end,
    } }
  end,
}
