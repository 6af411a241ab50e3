-- Cells around scattered points, each of the colour at its point, with lines between them if wanted. Points: one in
-- each square of `side`, off its centre by up to `jitter` half sides, by a hash of the square and the seed (GPUImage's
-- takes the points from a picture). Bilinear read on encoded values. Alpha is kept.
-- side: 0.005…1 of the picture's width; jitter: 0…1; line: 0…0.5 of the side, of lineColor; seed: 0…1000. No neutral value.
return kernel {
  summary = "Turns the picture into a mosaic of irregular cells.",
  params = {
    side = { 0.05, min = 0.005, max = 1, unit = "widths", label = "Side" },
    jitter = { 0.9, min = 0, max = 1, label = "Irregularity" },
    line = { 0, min = 0, max = 0.5, unit = "sides", label = "Line" },
    lineColor = { "#000000", label = "Colour of the lines" },
    seed = { 0, min = 0, max = 1000, label = "Seed" },
  },
  sample = function(src, pos, p)
    local shape = size / size.x
    local at = uv * shape / p.side
    local square = floor(at)
    local nearest, first, second
    for y = -1, 1 do
      for x = -1, 1 do
        local cell = square + vec2(x, y)
        local seed = floor(p.seed) * 2
        local off = vec2(hash(cell.x, cell.y, seed), hash(cell.x, cell.y, seed + 1)) - 0.5
        local point = cell + 0.5 + off * p.jitter
        local away = distance(at, point)
        if not nearest then
          nearest, first, second = point, away, away + 100
        else
          local isNearer = lt(away, first)
          second = select(isNearer, first, min(second, away))
          nearest, first = select(isNearer, point, nearest), min(first, away)
        end
      end
    end
    local color = src:sample(nearest * p.side / shape).rgb
    local line = lt(second - first, p.line)
    return vec4(select(line, p.lineColor.rgb, color), src:at(0, 0).a)
  end,
}
