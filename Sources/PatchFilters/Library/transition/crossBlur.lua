-- Both pictures blur, cross-fade and become sharp again: 16 samples on a spiral whose radius is `radius` heights times the
-- sine over the way, and the pixel itself. Bilinear on premultiplied encoded colour, alpha alike.
-- progress: 0…1, neutral 0; radius: 0…0.2 heights.
local transition = require "library.transition"

return kernel(transition.frame {
  summary = "Blurs over into the other picture.",
  params = { radius = { 0.04, min = 0, max = 0.2, unit = "heights", label = "Radius" } },
  sample = function(from, to, pos, p)
    local reach = p.radius * sin(3.14159265 * p.progress) * vec2(size.y / size.x, 1)
    local old, new = from:at(0, 0), to:at(0, 0)
    -- The golden angle spreads the samples evenly over the disc.
    for i = 1, 16 do
      local angle, r = i * 2.39996323, sqrt(i / 16)
      local place = uv + reach * vec2(r * cos(angle), r * sin(angle))
      old, new = old + from:sample(place), new + to:sample(place)
    end
    return mix(old, new, smoothstep(0, 1, p.progress)) / 17
  end,
})
