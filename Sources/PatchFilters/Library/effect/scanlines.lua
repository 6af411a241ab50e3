-- The lines of a tube screen: each `period` pixels the brightness dips by `amount` in the shape of (1 + cos) / 2, and rolls
-- by `speed` lines a second. Encoded values. Alpha is kept.
-- amount: 0…1, neutral 0; period: 2…64 pixels; speed: -100…100 pixels a second.
return kernel {
  summary = "Draws the lines of a tube screen.",
  params = {
    amount = { 0.4, min = 0, max = 1, neutral = 0, label = "Amount" },
    period = { 4, min = 2, max = 64, unit = "px", label = "Period" },
    speed = { 0, min = -100, max = 100, unit = "px/s", label = "Roll" },
  },
  pixel = function(c, p)
    local phase = fract((pos.y - 0.5 - time * p.speed) / p.period)
    local dip = 0.5 + 0.5 * cos(6.28318531 * phase)
    return vec4(c.rgb * (1 - p.amount * dip), c.a)
  end,
}
