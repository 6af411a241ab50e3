-- Joins edges: white where the red channel is at least .01 and its 3x3 neighbourhood sums to at least 1.5, black elsewhere.
-- The last stage of canny. Encoded values, straight alpha, which is kept. No parameters.
return kernel {
  summary = "Keeps weak edge pixels beside strong ones.",
  sample = function(src)
    local sum
    for y = -1, 1 do
      for x = -1, 1 do
        local part = src:at(x, y).r
        sum = sum and sum + part or part
      end
    end
    local here = src:at(0, 0)
    return vec4(vec3(step(1.5, sum) * step(0.01, here.r)), here.a)
  end,
}
