-- The mixed picture blurs and becomes sharp again: 16 reads on a spiral whose radius is `radius` heights times the sine over
-- the way, on half the size; below two pixels of radius the sharp picture shows through. (Blurring the mix is the same as
-- mixing the blurs, and half the work.) Bilinear on premultiplied encoded colour, alpha alike.
-- progress: 0…1, neutral 0; radius: 0…0.2 heights.
local transition = require "library.transition"

-- Of the picture's height.
local function reach(p) return p.radius * sin(3.14159265 * p.progress) end

return kernel(transition.frame {
  summary = "Blurs over into the other picture.",
  space = "any",
  params = { radius = { 0.04, min = 0, max = 0.2, unit = "heights", label = "Radius" } },
  passes = {
    { name = "mixed", pixel = function(from, to, p) return mix(from, to, smoothstep(0, 1, p.progress)) end },
    { name = "half", scale = 1/2, pixel = function(c) return c end },
    { name = "soft", scale = 1/2, sample = function(src, pos, p)
      local r, sum = reach(p) * vec2(size.y / size.x, 1), vec4(0)
      -- The golden angle spreads the reads evenly over the disc.
      for i = 1, 16 do
        local angle = i * 2.39996323
        sum = sum + src:sample(uv + r * sqrt(i / 16) * vec2(cos(angle), sin(angle)))
      end
      return sum / 16
    end },
    { inputs = { "mixed", "soft" }, pixel = function(mixed, soft, p)
      return mix(mixed, soft, clamp(reach(p) * size.y / 2, 0, 1))
    end },
  },
})
