-- Builds the picture from tiles of a second picture, as GPUImage's: that one holds 1 / inputTile squared tiles row by
-- row, from light to dark; each cell takes the tile for the luma (.299 .587 .114) at its top left corner. With `color`
-- the tile is multiplied by the picture's colour there. Encoded values. Alpha is kept.
-- inputTile: 0.01…1 of the tile picture's sides; displayTile: 0.002…1 of the picture's sides; count: 1…4096, how many tiles
-- there are. No neutral value.
return kernel {
  summary = "Builds the picture from little pictures.",
  inputs = { "image", "tiles" },
  params = {
    inputTile = { 0.125, min = 0.01, max = 1, label = "Tile in the tile picture" },
    displayTile = { 0.025, min = 0.002, max = 1, label = "Tile on the screen" },
    count = { 64, min = 1, max = 4096, label = "Tiles" },
    color = { true, label = "Coloured" },
  },
  sample = function(src, tiles, pos, p)
    local corner = floor(uv / p.displayTile) * p.displayTile
    local rgb = src:sample(corner).rgb
    local dark = clamp(1 - dot(rgb, vec3(0.299, 0.587, 0.114)), 0, 1)
    local number = min(floor(dark * p.count), p.count - 1)
    local perRow = max(floor(1 / p.inputTile + 0.001), 1)
    local row = floor((number + 0.5) / perRow)
    local place = (vec2(number - row * perRow, row) + (uv - corner) / p.displayTile) * p.inputTile
    local tile = tiles:sample(place).rgb
    return vec4(select(p.color, tile * rgb, tile), src:at(0, 0).a)
  end,
}
