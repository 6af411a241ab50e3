-- A lens out of focus: every pixel is spread over a hexagon. The hexagon is three rhombi, and each rhombus is a line blurred along
-- another line, so that the cost grows with the radius, not with its square.
--
-- Linear light, in which bright points stay bright; premultiplied; alpha is blurred with the colour. radius: 1…32 pixels, the
-- hexagon's side. glow: 0…10 makes lights stronger before the blur, by 1 + glow * luma^4.

-- The mean of src's pixels first…radius steps along a direction, in degrees from downwards against the clock.
local function line(src, angle, first, radius)
  local turn = math.rad(angle)
  local sum
  for i = first, radius do
    local part = src:at(math.floor(i * math.sin(turn) + 0.5), math.floor(i * math.cos(turn) + 0.5))
    sum = sum and sum + part or part
  end
  return sum / (radius - first + 1)
end

return kernel {
  summary = "Blurs like a lens, with hexagonal highlights.",
  light = "linear",
  alpha = "premultiplied",
  keepsAlpha = false,
  params = { glow = { 0, min = 0, max = 10, label = "Glow of lights" } },
  options = { radius = { 8, min = 1, max = 32 } },
  passes = function(options)
    local radius = options.radius
    -- Directions 120 degrees apart: up, and down to both sides. What two rhombi share counts once.
    local up, left, right = 180, -60, 60
    local both, one, none = (radius + 1) * (radius + 1), radius * (radius + 1), radius * radius
    local all = both + one + none
    return {
      { name = "lights", pixel = function(c, p)
        local luma = dot(c.rgb, vec3(0.2126, 0.7152, 0.0722))
        return vec4(c.rgb * (1 + p.glow * luma * luma * luma * luma), c.a)
      end },
      { name = "upwards", sample = function(src) return line(src, up, 0, radius) end },
      { name = "leftwards", inputs = { "lights" }, sample = function(src) return line(src, left, 1, radius) end },
      { inputs = { "upwards", "leftwards" }, sample = function(upwards, leftwards)
        return line(upwards, left, 0, radius) * (both / all) + line(upwards, right, 1, radius) * (one / all)
          + line(leftwards, right, 1, radius) * (none / all)
      end },
    }
  end,
}
