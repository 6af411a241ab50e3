-- The look of a 1981 colour screen: 320 x 200 pixels, each black, white, cyan or magenta, whichever is nearest in red,
-- green, blue. GPUImage's for landscape pictures (its own has 200 x 320, for a phone upright). The cell's top left
-- pixel gives the colour, as GPUImage's. Encoded values. Alpha is kept.
-- columns: 1…640, rows: 1…480. No neutral value.
return kernel {
  summary = "Black, white, cyan and magenta in large pixels.",
  params = {
    columns = { 320, min = 1, max = 640, label = "Columns" },
    rows = { 200, min = 1, max = 480, label = "Rows" },
  },
  sample = function(src, pos, p)
    local grid = vec2(p.columns, p.rows)
    local rgb = src:sample(floor(uv * grid) / grid + 0.5 / size, "nearest").rgb
    local best, least
    for _, color in ipairs { vec3(1), vec3(0), vec3(0, 1, 1), vec3(1, 0, 1) } do
      local away = distance(rgb, color)
      best = best and select(lt(away, least), color, best) or color
      least = least and min(away, least) or away
    end
    return vec4(best, src:at(0, 0).a)
  end,
}
