-- Spreads brightness so that all steps occur equally often: each value v becomes (N(v) - N0) / (N - N0), where N(v) counts the pixels
-- of at most v, N0 those of the least value that occurs, N all; 256 steps, values between two steps are interpolated.
-- channels "luminance" changes luma (.2125 .7154 .0721) and moves red, green and blue by the same amount; "rgb" changes each
-- channel by its own histogram.
--
-- Encoded values, straight alpha, which is kept. intensity: 0…1; 0 changes nothing.
return kernel {
  summary = "Spreads the contrast by the picture's histogram.",
  params = { intensity = { 1, min = 0, max = 1, neutral = 0, label = "Intensity" } },
  options = { channels = { "luminance", "rgb" } },
  passes = function(options)
    return {
      { name = "curve", native = "equalize" },
      { inputs = { "image", "curve" }, sample = function(image, curve, _, p)
        local c = image:at(0, 0)
        local function at(value) return curve:sample(vec2((clamp(value, 0, 1) * 255 + 0.5) / 256, 0.5)) end
        local spread
        if options.channels == "rgb" then
          spread = vec3(at(c.r).r, at(c.g).g, at(c.b).b)
        else
          local luma = dot(c.rgb, vec3(0.2125, 0.7154, 0.0721))
          spread = c.rgb + at(luma).a - clamp(luma, 0, 1)
        end
        return vec4(mix(c.rgb, spread, p.intensity), c.a)
      end },
    }
  end,
}
