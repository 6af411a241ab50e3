-- Edge strengths in the form that GPUImage's filters use. `require "library.edges"`.
local edges = {}

-- sqrt(gx^2 + gy^2) of grey(colour) around the pixel; 3x3, weights 1 `middle` 1, not divided: Sobel's with 2, Prewitt's with 1.
function edges.strength(src, grey, middle)
  local function at(x, y) return grey(src:at(x, y)) end
  local across = at(1, -1) + middle * at(1, 0) + at(1, 1) - at(-1, -1) - middle * at(-1, 0) - at(-1, 1)
  local down = at(-1, 1) + middle * at(0, 1) + at(1, 1) - at(-1, -1) - middle * at(0, -1) - at(1, -1)
  return length(vec2(across, down))
end

function edges.sobel(src, grey) return edges.strength(src, grey, 2) end

-- Passes that draw the strength of the luma's edges, times the parameter `edgeStrength`, as grey; alpha stays.
function edges.passes(middle)
  return {
    { name = "luma", channels = 1, pixel = function(c) return vec4(dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))) end },
    { inputs = { "luma", "image" }, sample = function(luma, image, _, p)
      local strength = edges.strength(luma, function(c) return c.r end, middle)
      return vec4(vec3(strength * p.edgeStrength), image:at(0, 0).a)
    end },
  }
end

return edges
