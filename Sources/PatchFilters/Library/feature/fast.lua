-- FAST-9 corners (Rosten, Drummond 2006): of the 16 pixels on a circle of radius 3, nine in a row are all lighter than the centre by
-- more than threshold, or all darker. Strength is the largest threshold for which that holds; a corner is the strongest of its 3x3
-- pixels. As data, `node:onData(function(d) … end)`: d.points, a list of {x, y} in 0…1 from the upper left, at most 512 (from the
-- top), and d.count, how many there are.
--
-- The picture shows corners as white pixels on black where show is 1, the image where it is 0. Luma .2125 .7154 .0721 of encoded
-- values, straight alpha, which is kept. threshold: 0.01…1.
local corners = require "library.corners"

local circle = {
  { 0, -3 }, { 1, -3 }, { 2, -2 }, { 3, -1 }, { 3, 0 }, { 3, 1 }, { 2, 2 }, { 1, 3 },
  { 0, 3 }, { -1, 3 }, { -2, 2 }, { -3, 1 }, { -3, 0 }, { -3, -1 }, { -2, -2 }, { -1, -3 },
}

-- The greatest, over all runs of nine neighbours on the ring, of the least value in the run.
local function bestRun(values)
  local function next(i, by) return (i + by - 1) % 16 + 1 end
  local runs = values
  for _, length in ipairs { 1, 2, 4 } do
    local longer = {}
    for i = 1, 16 do longer[i] = min(runs[i], runs[next(i, length)]) end
    runs = longer
  end
  local best
  for i = 1, 16 do
    local nine = min(runs[i], values[next(i, 8)])
    best = best and max(best, nine) or nine
  end
  return best
end

return kernel {
  summary = "Finds corners by looking at a circle of pixels.",
  params = {
    threshold = { 0.1, min = 0.01, max = 1, label = "Threshold" },
    show = { 1, min = 0, max = 1, neutral = 0, label = "Show" },
  },
  passes = {
    { name = "luma", channels = 1, pixel = corners.luma },
    { name = "strength", channels = 1, sample = function(luma)
      local here = luma:at(0, 0).r
      local lighter, darker = {}, {}
      for i, at in ipairs(circle) do
        lighter[i] = luma:at(at[1], at[2]).r - here
        darker[i] = -lighter[i]
      end
      return vec4(max(bestRun(lighter), bestRun(darker)))
    end },
    { name = "peaks", channels = 1, sample = corners.peaks },
    { name = "corners", native = "points" },
    { inputs = { "corners", "image" }, pixel = function(corner, image, p)
      return vec4(mix(image.rgb, vec3(corner.r), p.show), image.a)
    end },
  },
}
