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
          local part = src:at(i * dx, i * dy).r
          sum = sum and sum + part or part
        end
        return vec4(sum / (2 * radius + 1))
      end
    end
    return {
      { name = "luma", channels = 1, floats = true, pixel = steps.luma },
      { name = "down", channels = 1, floats = true, sample = mean(0, 1) },
      { name = "mean", channels = 1, floats = true, sample = mean(1, 0) },
      { inputs = { "mean", "image" }, pixel = function(around, c, p)
        return vec4(vec3(step(around.r - p.offset, steps.luma(c).r)), c.a)
      end },
    }
  end,
}
