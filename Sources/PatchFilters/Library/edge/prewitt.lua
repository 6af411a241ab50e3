-- Prewitt's edge strength of the luma: the length of (gx, gy) times edgeStrength, as grey.
-- gx = right column - left column, gy = lower row - upper row, middles counting 1.
--
-- Luma .2125 .7154 .0721 of encoded values, straight alpha, which is kept. edgeStrength: 0…8; above 1 shows beyond white.
local edges = require "library.edges"

return kernel {
  summary = "Draws edges in white on black, by Prewitt's operator.",
  params = { edgeStrength = { 1, min = 0, max = 8, label = "Edge strength" } },
  passes = edges.passes(1),
}
