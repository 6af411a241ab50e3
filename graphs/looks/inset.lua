-- A picture laid over another one at a place given in pixels of the frame, with round corners, a thin border and a soft
-- shadow. Premultiplied encoded values, source over backdrop; all numbers may be changed while on air.
return kernel {
  summary = "Lays a picture over another one, at a place and size in pixels.",
  inputs = { "image", "overlay" },
  alpha = "premultiplied",
  params = {
    x       = { 40, min = -8192, max = 8192, unit = "px", label = "Left" },
    y       = { 40, min = -8192, max = 8192, unit = "px", label = "Top" },
    width   = { 320, min = 1, max = 8192, unit = "px", label = "Width" },
    height  = { 180, min = 1, max = 8192, unit = "px", label = "Height" },
    opacity = { 1, min = 0, max = 1, neutral = 0, label = "Opacity" },
    corner  = { 16, min = 0, max = 512, unit = "px", label = "Corner radius" },
    border  = { 3, min = 0, max = 64, unit = "px", label = "Border" },
    shadow  = { 0.5, min = 0, max = 1, label = "Shadow" },
    tint    = { "#ffffff", label = "Border colour" },
  },
  sample = function(image, overlay, pos, p)
    local corner, extent = vec2(p.x, p.y), vec2(p.width, p.height)
    -- Distance to the rounded rectangle's edge, negative inside.
    local function edge(at, grow)
      local half = extent / 2 + grow
      local q = abs(at - corner - extent / 2) - half + (p.corner + grow)
      return length(max(q, 0)) + min(max(q.x, q.y), 0) - (p.corner + grow)
    end
    local under = image:at(0, 0)
    local dark = smoothstep(26, -10, edge(pos - vec2(0, 8), 0)) * p.shadow * p.opacity
    under = vec4(under.rgb * (1 - dark), under.a + dark * (1 - under.a))
    local place = (pos - corner) / extent
    local picture = overlay:sample(place, "bilinear", "clamp")
    local frame = clamp(0.5 - edge(pos, p.border), 0, 1)
    local inner = clamp(0.5 - edge(pos, 0), 0, 1)
    local top = mix(vec4(p.tint.rgb, 1) * frame, picture, inner) * p.opacity
    return top + under * (1 - top.a)
  end,
}
