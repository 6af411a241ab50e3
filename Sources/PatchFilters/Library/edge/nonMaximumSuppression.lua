-- Thins edges: keeps a pixel of directionalSobel's picture that is no weaker than its two neighbours along its direction, as
-- smoothstep(lower, upper, strength); the others become 0. The second stage of canny.
--
-- Encoded values, straight alpha, which is kept. lowerThreshold and upperThreshold: 0…1; lower above upper counts as a hard step.
return kernel {
  summary = "Thins directionalSobel's edges to one pixel.",
  params = {
    lowerThreshold = { 0.1, min = 0, max = 1, label = "Lower threshold" },
    upperThreshold = { 0.4, min = 0, max = 1, label = "Upper threshold" },
  },
  sample = function(src, pos, p)
    local here = src:at(0, 0)
    -- Whether the direction has a part along x, along y, and whether those have the same sign.
    local alongX, alongY = gt(abs(here.g - 0.5), 0.25), gt(abs(here.b - 0.5), 0.25)
    local falling = gt((here.g - 0.5) * (here.b - 0.5), 0)
    local function pair(x, y) return max(src:at(x, y).r, src:at(-x, -y).r) end
    local diagonal = select(falling, pair(1, 1), pair(1, -1))
    local neighbour = select(alongX, select(alongY, diagonal, pair(1, 0)), select(alongY, pair(0, 1), here.r))
    local strength = smoothstep(p.lowerThreshold, max(p.upperThreshold, p.lowerThreshold + 0.0001), here.r)
    return vec4(vec3(select(ge(here.r, neighbour), strength, 0)), here.a)
  end,
}
