-- GPUImage's chroma key blend: the picture (a person before a green wall) over a background. The key's distance is that of
-- Cr and Cb (.2989 .5866 .1145; factors .7132 and .5647); smoothstep from threshold to threshold + smoothing is the
-- share of the picture. Encoded straight colour; the alpha is mixed like the colour. For spill suppression use
-- filter.chromaKey.
-- color: of the wall; threshold: 0…1; smoothing: 0…1. There is no neutral value: at threshold 0 only the key colour
-- itself goes.
return kernel {
  summary = "Puts a background behind a picture with a wall of one colour.",
  inputs = { "image", "background" },
  keepsAlpha = false,
  params = {
    color = { "#00ff00", label = "Key colour" },
    threshold = { 0.4, min = 0, max = 1, label = "Threshold" },
    smoothing = { 0.1, min = 0, max = 1, label = "Smoothing" },
  },
  pixel = function(image, background, p)
    local function chroma(rgb)
      local y = dot(rgb, vec3(0.2989, 0.5866, 0.1145))
      return vec2(0.7132 * (rgb.r - y), 0.5647 * (rgb.b - y))
    end
    local away = distance(chroma(image.rgb), chroma(p.color.rgb))
    local keep = smoothstep(p.threshold, p.threshold + max(p.smoothing, 0.0001), away)
    local front, back = vec4(image.rgb * image.a, image.a), vec4(background.rgb * background.a, background.a)
    local both = mix(back, front, keep)
    return vec4(both.rgb / max(both.a, 0.0001), both.a)
  end,
}
