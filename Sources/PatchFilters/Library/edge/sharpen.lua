-- Sharpens: centre + sharpness * (4 centre - left - right - above - below).
-- Encoded values, straight alpha, which is kept. sharpness: -4…4; below 0 it softens; 0 changes nothing.
return kernel {
  summary = "Makes small details crisper.",
  params = { sharpness = { 0, min = -4, max = 4, neutral = 0, label = "Sharpness" } },
  sample = function(src, pos, p)
    local centre = src:at(0, 0)
    local around = src:at(-1, 0).rgb + src:at(1, 0).rgb + src:at(0, -1).rgb + src:at(0, 1).rgb
    return vec4(centre.rgb + p.sharpness * (4 * centre.rgb - around), centre.a)
  end,
}
