-- Local binary pattern of the red channel, as grey: a bit for each of the eight neighbours that is no darker than the centre,
-- from the upper right (1) against the clock: above 2, upper left 4, left 8, lower left 16, below 32, lower right 64, right 128;
-- the sum divided by 255. Texture descriptors are built from it.
-- Encoded values, straight alpha, which is kept. No parameters.
return kernel {
  summary = "Which neighbours are lighter, as eight bits in grey.",
  sample = function(src)
    local here = src:at(0, 0)
    local sum = 0
    for bit, at in ipairs { { 1, -1 }, { 0, -1 }, { -1, -1 }, { -1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 }, { 1, 0 } } do
      sum = sum + step(here.r, src:at(at[1], at[2]).r) * (2 ^ (bit - 1) / 255)
    end
    return vec4(vec3(sum), here.a)
  end,
}
