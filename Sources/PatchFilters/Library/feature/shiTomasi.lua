-- Shi and Tomasi's corners: X + Y - sqrt((X - Y)^2 + 4 Z^2), twice the lesser eigenvalue,
-- where X, Y and Z are dx^2, dy^2 and dx dy of the luma, each averaged with a Gaussian of sigma; times sensitivity. A corner is a
-- pixel of at least `threshold` that no neighbour of its 3x3 pixels exceeds. As data, `node:onData(function(d) … end)`:
-- d.points, a list of {x, y} in 0…1 from the upper left, at most 512 (from the top), and d.count, how many there are.
--
-- The picture shows corners as white pixels on black where show is 1, the image where it is 0. Luma .2125 .7154 .0721 of encoded
-- values, straight alpha, which is kept. sensitivity: 0…100, threshold: 0…1, sigma: 0.5…10 pixels.
local corners = require "library.corners"

local params = corners.params
params.sensitivity = { 1.5, min = 0, max = 100, label = "Sensitivity" }

return kernel {
  summary = "Finds corners by Shi and Tomasi's measure.",
  params = params,
  passes = corners.passes(function(x, y, z) return x + y - sqrt((x - y) * (x - y) + 4 * z * z) end),
}
