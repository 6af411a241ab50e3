-- Smooths skin and nothing else, the same at every resolution: the brightness of skin is passed through a guided filter (He, Sun,
-- Tang 2010), which evens out pores and blemishes and keeps eyes, lips and contours; a soft mask finds skin by its hue.
--
-- luma Y = .299 .587 .114; windows are Gaussians of radius * height: variance v and mean m of Y in them, a = v / (v + epsilon),
-- b = m (1 - a), both averaged again; smoothed Y' = a Y + b; epsilon = (contrast)^2. Out = rgb + smooth * skin * (1 - detail) (Y' - Y).
-- skin: 1 inside an ellipse of Cb and Cr around the hue of human skin (centre -.084, .106, half axes .04
-- across the hues and .075 along the saturation, turned by -35 degrees),
-- fading to 0 at 1.6 times its size, times smoothstep(.04, .12, Y), times smoothstep(-.01, .01, Cr + .65 Cb), which is what tells
-- skin from fair hair (hues of 37 to 66 degrees from 26 to 38); the pixel's own mask times the mean mask of its surroundings.
--
-- Encoded values, straight alpha, which is kept. smooth: 0…1; 0 changes nothing. detail: 0…1, what stays of the fine structure.
-- radius: 0.002…0.05 of the height. contrast: 0.01…0.3: differences of brightness below it count as blemishes.
local weights = { 0.299, 0.587, 0.114 }

local function luma(c) return dot(c.rgb, vec3(weights[1], weights[2], weights[3])) end

local function skin(c)
  local y = luma(c)
  local cb, cr = (c.b - y) / 1.772, (c.r - y) / 1.402
  local isRed = smoothstep(-0.01, 0.01, cr + 0.65 * cb)
  cb, cr = cb + 0.084, cr - 0.106
  local turn = math.rad(-35)
  local along = (cb * math.cos(turn) - cr * math.sin(turn)) / 0.04
  local across = (cb * math.sin(turn) + cr * math.cos(turn)) / 0.075
  return (1 - smoothstep(1, 1.6, length(vec2(along, across)))) * smoothstep(0.04, 0.12, y) * isRed
end

return kernel {
  summary = "Smooths skin, keeps eyes, lips and everything else.",
  params = {
    smooth = { 0.7, min = 0, max = 1, neutral = 0, label = "Skin smoothing" },
    detail = { 0.15, min = 0, max = 1, label = "Detail" },
    radius = { 0.01, min = 0.002, max = 0.05, label = "Size of blemishes" },
    contrast = { 0.07, min = 0.01, max = 0.3, label = "Contrast of blemishes" },
  },
  passes = {
    { name = "values", channels = 2, inputs = { "image" }, pixel = function(c)
      return vec4(luma(c) - 0.5, skin(c), 0, 1)
    end },
    { name = "smooth", native = "guided", inputs = { "values" }, options = { plain = 1 },
      params = { heights = "radius", contrast = "contrast" } },
    { inputs = { "image", "smooth" }, pixel = function(c, s, p)
      local change = s.r + 0.5 - luma(c)
      -- The mask of the surroundings and of the pixel itself: soft, and yet not beyond the skin's edge.
      local mask = min(s.g, 1) * skin(c)
      return vec4(c.rgb + p.smooth * (1 - p.detail) * mask * change, c.a)
    end },
  },
}
