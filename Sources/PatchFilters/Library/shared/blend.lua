-- The frame of a blend mode, W3C Compositing and Blending Level 1, "General formula". `require "library.blend"`.
--
--   a_s = overlay's alpha * opacity * mask's luminance * mask's alpha,  a_b = image's alpha
--   result's alpha  = a_s + a_b - a_s a_b
--   result's colour, premultiplied = (1 - a_b) a_s C_s + (1 - a_s) a_b C_b + a_s a_b B(C_b, C_s)
--
-- A mode is its B of the two straight colours. Where both pictures are opaque and opacity is 1 the result is B alone.
local blend = {}

-- Straight colour of a premultiplied one, within 0…1; nothing has no colour.
local function straight(c) return clamp(c.rgb / max(c.a, 0.0001), 0, 1) end

-- How much of the overlay counts at this pixel.
local function share(mask, p) return p.opacity * clamp(dot(mask.rgb, vec3(0.2126, 0.7152, 0.0722)), 0, 1) end

-- summary: of the filter; mix: B(backdrop, source), both vec3 within 0…1.
function blend.mode(summary, mix)
  return {
    summary = summary,
    inputs = { "image", "overlay", "mask" },
    optional = { mask = "#ffffff" },
    alpha = "premultiplied",
    keepsAlpha = false,
    params = { opacity = { 1, min = 0, max = 1, neutral = 0, label = "Opacity" } },
    pixel = function(image, overlay, mask, p)
      local over = overlay * share(mask, p)
      local both = image.a * over.a
      local rgb = over.rgb * (1 - image.a) + image.rgb * (1 - over.a) + both * mix(straight(image), straight(overlay))
      return vec4(rgb, image.a + over.a - both)
    end,
  }
end

blend.share = share

return blend
