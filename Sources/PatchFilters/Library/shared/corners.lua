-- What the corner detectors share: the luma's squared derivatives, averaged; one pixel for each corner; a list of corners as data.
local corners = {}

corners.params = {
  sensitivity = { 5, min = 0, max = 100, label = "Sensitivity" },
  threshold = { 0.2, min = 0, max = 1, label = "Threshold" },
  sigma = { 2, min = 0.5, max = 10, label = "Window", unit = "px" },
  show = { 1, min = 0, max = 1, neutral = 0, label = "Show" },
}

-- dx = right column - left column, dy = lower row - upper row, three pixels each: dx^2, dy^2, dx dy.
local function derivatives(luma)
  local function at(x, y) return luma:at(x, y).r end
  local dx = at(1, -1) + at(1, 0) + at(1, 1) - at(-1, -1) - at(-1, 0) - at(-1, 1)
  local dy = at(-1, 1) + at(0, 1) + at(1, 1) - at(-1, -1) - at(0, -1) - at(1, -1)
  return vec4(dx * dx, dy * dy, dx * dy, 1)
end

-- Keeps a pixel that is at least the threshold and the greatest of its 3x3 pixels, the first of several that are alike.
function corners.peaks(strength, _, p)
  local here = strength:at(0, 0).r
  local before = max(max(strength:at(-1, -1).r, strength:at(0, -1).r), max(strength:at(1, -1).r, strength:at(-1, 0).r))
  local after = max(max(strength:at(1, 1).r, strength:at(0, 1).r), max(strength:at(-1, 1).r, strength:at(1, 0).r))
  return vec4(select(gt(here, before) & ge(here, after) & ge(here, p.threshold) & gt(here, 0), 1.0, 0.0))
end

function corners.luma(c) return vec4(dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))) end

-- Passes for a measure of the averaged derivatives: measure(x, y, z) of dx^2, dy^2, dx dy.
function corners.passes(measure)
  return {
    { name = "luma", channels = 1, pixel = corners.luma },
    { name = "slopes", channels = 3, sample = derivatives },
    { name = "matrix", native = "gaussian", params = { sigma = "sigma" } },
    { name = "strength", channels = 1, pixel = function(c, p) return vec4(measure(c.r, c.g, c.b) * p.sensitivity) end },
    { name = "peaks", channels = 1, sample = corners.peaks },
    { name = "corners", native = "points" },
    { inputs = { "corners", "image" }, pixel = function(corner, image, p)
      return vec4(mix(image.rgb, vec3(corner.r), p.show), image.a)
    end },
  }
end

return corners
