-- Perlin's gradient noise (2002, with the quintic fade) between two colours, in place of the picture: n = 1/2 + 0.7071
-- noise, clipped. Encoded values; alpha is what the colours say. Gradients have 256 directions, by a hash of the cell
-- and the seed.
-- first, second: any colour; scale: 0.5…200 cells over the picture's width; speed: -10…10 cells a second, moves the
-- noise through time (two layers of gradients cross-faded); amount: 0…1 in place of the picture, neutral 0; seed: 0…1000.
local function gradientNoise(at, layer)
  local cell, f = floor(at), fract(at)
  local function corner(x, y)
    local turn = hash(cell.x + x, cell.y + y, layer) * 6.28318531
    return dot(f - vec2(x, y), vec2(cos(turn), sin(turn)))
  end
  local t = f * f * f * (f * (f * 6 - 15) + 10)
  return mix(mix(corner(0, 0), corner(1, 0), t.x), mix(corner(0, 1), corner(1, 1), t.x), t.y)
end

return kernel {
  summary = "Clouds of noise between two colours.",
  keepsAlpha = false,
  params = {
    first = { "#000000", label = "Colour of the valleys" },
    second = { "#ffffff", label = "Colour of the hills" },
    scale = { 8, min = 0.5, max = 200, unit = "cells", label = "Scale" },
    speed = { 0, min = -10, max = 10, unit = "1/s", label = "Speed" },
    seed = { 0, min = 0, max = 1000, label = "Seed" },
    amount = { 1, min = 0, max = 1, neutral = 0, label = "Amount" },
  },
  pixel = function(c, p)
    local at = uv * (size / size.x) * p.scale
    local moment = time * p.speed
    local layer = floor(moment) + floor(p.seed) * 4096
    local noise = mix(gradientNoise(at, layer), gradientNoise(at, layer + 1), smoothstep(0, 1, fract(moment)))
    local n = clamp(0.5 + 0.70710678 * noise, 0, 1)
    return mix(c, mix(p.first, p.second, n), p.amount)
  end,
}
