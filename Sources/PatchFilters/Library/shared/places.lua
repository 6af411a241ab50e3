-- Places in a picture for filters that read elsewhere. `require "library.places"`.
--
-- Distances on the screen are measured in widths or heights of the result, so that circles are round whatever its shape.
local places = {}

-- v turned clockwise (as one sees it: y goes down) by an angle in degrees.
function places.turned(v, angle)
  local s, k = sin(radians(angle)), cos(radians(angle))
  return vec2(k * v.x - s * v.y, s * v.x + k * v.y)
end

-- The result's sides in widths, and in heights.
function places.inWidths() return size / size.x end
function places.inHeights() return size / size.y end

-- How far this pixel is from a place in uv, in widths.
function places.distance(center) return length((uv - center) * places.inWidths()) end

-- Reads a picture nearer to p.center or farther from it: at share(r) of the distance r in widths.
function places.radial(src, p, share)
  return src:sample(p.center + (uv - p.center) * share(places.distance(p.center)))
end

-- The mean of four bilinear reads around a place, spread so that together they weigh what the result's pixel covers:
-- one place when nothing shrinks, every pixel down to a quarter of the size.
-- step: uv of the source from one pixel of the result to the next, right and down.
function places.area(src, place, step)
  -- Source pixels that a result pixel covers; a bilinear read covers one by itself and two when it lies between them.
  local covered = step * src.size
  local apart = min(max(covered - 1, 0) / 2, covered / 4) / src.size
  local sum
  for y = -1, 1, 2 do
    for x = -1, 1, 2 do
      local read = src:sample(place + apart * vec2(x, y))
      sum = sum and sum + read or read
    end
  end
  return sum / 4
end

-- A ray from the viewer through a glass sphere at p.center of p.radius widths: where it meets the front, from the sphere's middle
-- in radii; the square of how far that is; the height there, which with it is the unit normal; and the root of Snell's law, by
-- which the ray is bent: p.index * ray - (p.index * z + root) * normal.
function places.glass(p)
  local away = (uv - p.center) * places.inWidths() / p.radius
  local r2 = dot(away, away)
  local z = sqrt(max(1 - r2, 0))
  return away, r2, z, sqrt(max(1 - p.index * p.index * (1 - z * z), 0))
end

return places
