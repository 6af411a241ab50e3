-- Draws a cross over each white pixel of `marks`, such as the corners that harris shows: a pixel within `arm` pixels across or up
-- and down of a mark (red of at least .5) takes `color`.
--
-- Encoded values, straight alpha; where a cross is, alpha is the cross's. arm: 1…16 pixels. opacity: 0…1; 0 changes nothing.
return kernel {
  summary = "Draws a cross at every mark of a second picture.",
  inputs = { "image", "marks" },
  keepsAlpha = false,
  alpha = "premultiplied",
  params = {
    color = { "#00ff00", label = "Colour" },
    opacity = { 1, min = 0, max = 1, neutral = 0, label = "Opacity" },
  },
  options = { arm = { 5, min = 1, max = 16 } },
  passes = function(options)
    return {
      { name = "mark", channels = 1, inputs = { "marks" }, alpha = "straight", pixel = function(c)
        return vec4(step(0.5, c.r))
      end },
      { inputs = { "image", "mark" }, sample = function(image, mark, _, p)
        local near = mark:at(0, 0).r
        for i = 1, options.arm do
          near = max(near, max(max(mark:at(i, 0).r, mark:at(-i, 0).r), max(mark:at(0, i).r, mark:at(0, -i).r)))
        end
        local cover = near * p.opacity * p.color.a
        return vec4(p.color.rgb * cover, cover) + image:at(0, 0) * (1 - cover)
      end },
    }
  end,
}
