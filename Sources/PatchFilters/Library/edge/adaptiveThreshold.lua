-- Black and white by the surroundings: white where the luma is at least the mean of the (2 radius + 1)^2 pixels around minus offset.
-- Reads text under uneven light. GPUImage's radius is 4 and its offset .05.
--
-- Luma .2125 .7154 .0721 of encoded values, straight alpha, which is kept. radius: 1…16 pixels. offset: -0.5…0.5.
return kernel {
  summary = "Black and white, split at the surroundings' mean.",
  params = { offset = { 0.05, min = -0.5, max = 0.5, label = "Offset" } },
  options = { radius = { 4, min = 1, max = 16 } },
  passes = function(options)
    local steps = require "library.steps"
    local radius = options.radius
    local function mean(dx, dy)
      return function(src)
        local sum
        for i = -radius, radius do
          local part = steps.join(src:at(i * dx, i * dy), 1024)
          sum = sum and sum + part or part
        end
        return steps.split(sum / (2 * radius + 1), 1024)
      end
    end
    return {
      { name = "luma", channels = 2, pixel = function(c)
        return steps.split(dot(c.rgb, vec3(0.2125, 0.7154, 0.0721)), 1024)
      end },
      { name = "down", channels = 2, sample = mean(0, 1) },
      { name = "mean", channels = 2, sample = mean(1, 0) },
      { inputs = { "mean", "image" }, pixel = function(around, c, p)
        local luma = dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))
        return vec4(vec3(step(steps.join(around, 1024) - p.offset, luma)), c.a)
      end },
    }
  end,
}
