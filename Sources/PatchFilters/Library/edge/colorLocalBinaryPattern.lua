-- Local binary pattern of each channel: a bit for each of the eight neighbours that is no darker than the centre, from the
-- upper right (1) against the clock: above 2, upper left 4, left 8, lower left 16, below 32, lower right 64, right 128;
-- the sum divided by 255. Encoded values, straight alpha, which is kept. No parameters.
return kernel {
  summary = "Which neighbours are lighter, as eight bits a channel.",
  sample = function(src)
    local here = src:at(0, 0)
    local sum = vec3(0)
    for bit, at in ipairs { { 1, -1 }, { 0, -1 }, { -1, -1 }, { -1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 }, { 1, 0 } } do
      sum = sum + step(here.rgb, src:at(at[1], at[2]).rgb) * (2 ^ (bit - 1) / 255)
    end
    return vec4(sum, here.a)
  end,
}
