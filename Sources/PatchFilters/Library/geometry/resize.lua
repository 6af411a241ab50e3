-- The whole picture at another size, given with size = "640x360", on premultiplied encoded values, so that see-through edges
-- keep their colour; alpha is resampled like the colour. The same size is the neutral value. (Stretches where the shape is
-- another one: filter.fit and filter.fill keep it.)
-- method: "bilinear", which on shrinking to half or less first averages whole blocks of pixels (area); "nearest"; "bicubic"
-- (Catmull and Rom); "lanczos" (three lobes, 6 x 6 pixels). The last two are for enlarging and for shrinking a little: they
-- read pixels around one place however small the result is. Both may overshoot at edges; encoders clip that.
local function lanczos(x)
  local a = max(abs(x), 0.00001) * 3.14159265
  return select(lt(abs(x), 3), 3 * sin(a) * sin(a / 3) / (a * a), 0)
end

local function windowed(src)
  local at = uv * src.size - 0.5
  local whole = floor(at)
  local f = at - whole
  local across, down, total = {}, {}, { 0, 0 }
  for i = -2, 3 do
    across[i], down[i] = lanczos(f.x - i), lanczos(f.y - i)
    total[1], total[2] = total[1] + across[i], total[2] + down[i]
  end
  local sum = vec4(0)
  for y = -2, 3 do
    local row = vec4(0)
    for x = -2, 3 do row = row + src:sample((whole + vec2(x, y) + 0.5) / src.size, "nearest") * across[x] end
    sum = sum + row * down[y]
  end
  -- A window's weights add up to nearly 1; divided, flat areas stay flat.
  return sum / (total[1] * total[2])
end

return kernel {
  summary = "Gives the picture another size.",
  space = "any",
  size = "required",
  alpha = "premultiplied",
  space = "any",
  keepsAlpha = false,
  options = { method = { "bilinear", "nearest", "bicubic", "lanczos" } },
  passes = function(p)
    if p.method == "bilinear" then return { { pixel = function(c) return c end } } end
    if p.method == "lanczos" then return { { sample = windowed } } end
    return { { sample = function(src) return src:sample(uv, p.method) end } }
  end,
}
