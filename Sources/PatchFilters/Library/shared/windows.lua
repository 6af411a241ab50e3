-- Passes that compute the least or greatest value of a square of pixels with few reads a pixel.
local windows = {}

-- Adds passes that reduce the run of 2 radius + 1 pixels around each pixel along one direction, by an operation for which
-- counting a pixel twice does no harm (min, max). Each pass joins three or five runs of the pass before. Runs are centred, so
-- that one which begins beyond the edge, and is moved to it, still holds no pixel from outside the wanted run.
local function runs(passes, operation, radius, channels, dx, dy, name)
  local reach = 0
  while reach < radius do
    local next = math.min(radius, 5 * reach + 2)
    local outer = next - reach
    local offsets = next <= 3 * reach + 1 and { 0, outer } or { 0, (outer + 1) // 2, outer }
    passes[#passes + 1] = {
      name = name .. next,
      inputs = { passes[#passes].name },
      channels = channels,
      sample = function(src)
        local best = src:at(0, 0)
        for i = 2, #offsets do
          local away = offsets[i]
          best = operation(best, operation(src:at(-away * dx, -away * dy), src:at(away * dx, away * dy)))
        end
        return best
      end,
    }
    reach = next
  end
end

-- Adds passes after the last one of `passes`: min or max over the square around each pixel.
function windows.square(passes, operation, radius, channels)
  local serial = #passes
  runs(passes, operation, radius, channels, 1, 0, "across" .. serial .. "_")
  runs(passes, operation, radius, channels, 0, 1, "down" .. serial .. "_")
end

return windows
