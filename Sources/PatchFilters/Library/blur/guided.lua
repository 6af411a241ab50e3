-- The guided filter (He, Sun, Tang 2010), each channel guided by itself: in every window the picture is taken for a line
-- a * image + b, with a = variance / (variance + epsilon) and b = mean (1 - a); a and b are averaged over the windows and applied.
-- Flat surfaces (variance far below epsilon) become their mean, edges (far above) stay.
--
-- The window is a Gaussian of sigma, whose cost does not grow with sigma; a box of radius r has sigma = sqrt(r (r + 1) / 3).
-- Encoded values, straight alpha, which is kept. sigma: 0.5…100 pixels. epsilon: 0.0005…1, the square of the contrast that is
-- smoothed. Values are kept as differences from mid-grey, so that half floats lose little in the variance.
return kernel {
  summary = "Smooths surfaces and keeps edges, at any radius.",
  params = {
    sigma = { 4, min = 0.5, max = 100, label = "Window", unit = "px" },
    epsilon = { 0.01, min = 0.0005, max = 1, label = "Smoothing" },
  },
  passes = {
    { name = "values", channels = 3, inputs = { "image" }, pixel = function(c) return vec4(c.rgb - 0.5, 1) end },
    { name = "smooth", native = "guided", inputs = { "values" }, params = { sigma = "sigma", epsilon = "epsilon" } },
    { inputs = { "image", "smooth" }, pixel = function(c, smooth) return vec4(smooth.rgb + 0.5, c.a) end },
  },
}
