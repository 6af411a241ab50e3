-- Draws the histogram of the picture: for each of 256 steps of brightness a column whose height is how often it occurs, the most
-- frequent step being as high as the picture. Red, green and blue add up to colours; `luminance` (.2125 .7154 .0721) is grey.
-- As data, `node:onData(function(d) … end)`: d.red, d.green, d.blue, d.luminance, lists of 256 shares that sum to 1.
--
-- Encoded values of 8 bits, premultiplied as they are stored. opacity: 0…1 of the drawing over the image; 0 changes nothing. Alpha is
-- kept.
return kernel {
  summary = "Draws how often each brightness occurs.",
  params = { opacity = { 1, min = 0, max = 1, neutral = 0, label = "Opacity" } },
  options = { channels = { "rgb", "red", "green", "blue", "luminance" } },
  passes = function(options)
    local kind = options.channels
    return {
      { name = "table", native = "histogram" },
      { inputs = { "image", "table" }, sample = function(image, counts, _, p)
        local height = counts:sample(vec2(uv.x, 0.5), "nearest")
        local level = 1 - uv.y
        local function on(value) return step(level, value) end
        local drawn
        if kind == "luminance" then
          drawn = vec3(on(height.a))
        else
          local function of(name, value) return (kind == "rgb" or kind == name) and on(value) or 0.0 end
          drawn = vec3(of("red", height.r), of("green", height.g), of("blue", height.b))
        end
        local c = image:at(0, 0)
        return vec4(mix(c.rgb, drawn, p.opacity), c.a)
      end },
    }
  end,
}
