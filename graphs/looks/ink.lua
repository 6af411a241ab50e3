-- A drawing in ink on warm paper: lines where brightness changes, two layers of hatching where it is dark, a thin wash of
-- the picture's own colours. Encoded values; alpha is kept.
local function grey(c) return dot(c.rgb, vec3(0.2126, 0.7152, 0.0722)) end

-- How strongly brightness changes around a pixel, over a width of 2 pixels: Sobel's masks.
local function edge(src)
  local a, b, c = grey(src:at(-1, -1)), grey(src:at(0, -1)), grey(src:at(1, -1))
  local d, f    = grey(src:at(-1, 0)), grey(src:at(1, 0))
  local g, h, i = grey(src:at(-1, 1)), grey(src:at(0, 1)), grey(src:at(1, 1))
  return length(vec2(c + 2 * f + i - a - 2 * d - g, g + 2 * h + i - a - 2 * b - c))
end

-- Parallel strokes, `spacing` heights of the picture apart, a little uneven as by hand.
local function strokes(angle, spacing, darkness)
  local place = pos / size.y
  local along = place.x * cos(angle) + place.y * sin(angle)
  local across = place.y * cos(angle) - place.x * sin(angle)
  local wobble = 0.0012 * sin(along * 90) + 0.0008 * sin(along * 37 + across * 50)
  local wave = abs(fract((across + wobble) / spacing) - 0.5) * 2
  return smoothstep(1 - darkness, 1 - darkness + 0.25, wave)
end

return kernel {
  summary = "A drawing in ink, with hatching and a wash of colour.",
  params = {
    amount = { 1, min = 0, max = 1, neutral = 0, label = "Amount" },
    lines  = { 1.6, min = 0, max = 4, label = "Lines" },
    wash   = { 0.45, min = 0, max = 1, label = "Colour" },
  },
  passes = {
    { name = "soft", sample = function(src)
      return (src:at(-1, -1) + src:at(1, -1) + src:at(-1, 1) + src:at(1, 1) + src:at(0, 0) * 4) / 8
    end },
    { inputs = { "image", "soft" }, sample = function(src, soft, pos, p)
      local c = src:at(0, 0)
      local tone = grey(soft:at(0, 0))
      local ink = smoothstep(0.08, 0.5, edge(soft) * p.lines)
      local first = strokes(0.8, 0.011, clamp(0.62 - tone * 1.25, 0, 0.75))
      local second = strokes(-0.65, 0.009, clamp(0.42 - tone * 1.7, 0, 0.7))
      local paper = vec3(0.97, 0.945, 0.89) * (0.985 + 0.03 * hash())
      local tint = mix(vec3(1), mix(vec3(tone), c.rgb, 1.5) * 0.75 + 0.3, p.wash)
      local drawn = paper * tint
      drawn = mix(drawn, vec3(0.13, 0.12, 0.16), clamp(max(ink, max(first, second) * 0.8), 0, 1))
      return vec4(mix(c.rgb, drawn, p.amount), c.a)
    end },
  },
}
