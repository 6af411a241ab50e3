-- Seamless cloning (Perez, Gangnet, Blake 2003): where the overlay's alpha reaches 1/2, the picture gets the overlay's gradients
-- and keeps its own colours along the border: overlay + m, with m the membrane that is image - overlay on the border (the
-- outermost pixels of the overlay, whose colours are known) and has no Laplacian inside. Outside nothing changes. Encoded
-- straight colour; the picture's alpha is kept.
-- m is found from coarse to fine: eight halvings, and on each size on the way back rounds of averaging four neighbours, most of
-- them on the finest. It is within 3/255 of the exact solution where the two pictures differ softly along the border; GPUImage's
-- ten rounds on the full size hardly leave the border, but its name is kept.
-- mix: 0…1, neutral 0, also weighed by the overlay's alpha, so that soft borders stay soft.
local halvings = 8
local rounds = { [0] = 6, [1] = 4, [halvings] = 2 }

-- Known values count by their weight, the rest is the mean of the four neighbours.
local function relax(known, m)
  local here = known:at(0, 0)
  local around = (m:at(-1, 0) + m:at(1, 0) + m:at(0, -1) + m:at(0, 1)) / 4
  return vec4(here.rgb + (1 - here.a) * around.rgb, 1)
end

-- Known values, and the coarser membrane where there are none: what large sizes relax next.
local function grow(known, coarse) return vec4(known.rgb + (1 - known.a) * coarse.rgb, 1) end

-- Both at once, for small sizes: one pass in place of two.
local function relaxCoarse(known, coarse)
  local around = vec3(0)
  for _, d in ipairs { { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } } do
    local k = known:at(d[1], d[2])
    around = around + k.rgb + (1 - k.a) * coarse:sample(uv + vec2(d[1], d[2]) / size).rgb
  end
  local here = known:at(0, 0)
  return vec4(here.rgb + (1 - here.a) * around / 4, 1)
end

local passes = {
  { name = "known1", alpha = "straight", inputs = { "image", "overlay" }, sample = function(image, overlay)
    local function inside(x, y) return step(0.5, overlay:at(x, y).a) end
    local around = min(min(inside(-1, 0), inside(1, 0)), min(inside(0, -1), inside(0, 1)))
    return vec4(image:at(0, 0).rgb - overlay:at(0, 0).rgb, inside(0, 0) * (1 - around))
  end },
}
local function add(pass)
  pass.name = pass.name or "pass" .. #passes
  passes[#passes + 1] = pass
  return pass.name
end
for i = 1, halvings do
  -- A border crosses two of four pixels: doubled, it stays as strong on every size.
  add { name = "known" .. (1 << i), scale = 1 / 2 ^ i, pixel = function(c)
    return c * min(1 / max(c.a, 0.0001), 2)
  end }
end
local membrane
for i = halvings, 0, -1 do
  local scale, known = 1 / 2 ^ i, "known" .. (1 << i)
  local first = 2
  if i == halvings then
    first = 1
    membrane = add { scale = scale, channels = 3, inputs = { known }, pixel = function(c)
      return vec4(c.rgb / max(c.a, 0.0001), 1)
    end }
  elseif i <= 1 then
    first = 1
    membrane = add { scale = scale, channels = 3, inputs = { known, membrane }, pixel = grow }
  else
    membrane = add { scale = scale, channels = 3, inputs = { known, membrane }, sample = relaxCoarse }
  end
  for _ = first, rounds[i] or 1 do
    membrane = add { scale = scale, channels = 3, inputs = { known, membrane }, sample = relax }
  end
end
add { alpha = "straight", inputs = { "image", "overlay", membrane }, pixel = function(image, overlay, m, p)
  local inside = step(0.5, overlay.a)
  return vec4(mix(image.rgb, overlay.rgb + m.rgb, inside * overlay.a * p.mix), image.a)
end }

return kernel {
  summary = "Clones the overlay into the picture without a seam.",
  inputs = { "image", "overlay" },
  alpha = "premultiplied",
  params = { mix = { 1, min = 0, max = 1, neutral = 0, label = "Mix" } },
  passes = passes,
}
