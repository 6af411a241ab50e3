-- The Laplace operator on each channel: the 3x3 matrix  .5 1 .5 / 1 -6 1 / .5 1 .5,  plus .5 so that both signs show.
-- Encoded values, straight alpha, which is kept. No parameters; a flat area is mid-grey.
return kernel {
  summary = "Shows where brightness bends: the Laplace operator.",
  sample = function(src)
    local corners = src:at(-1, -1).rgb + src:at(1, -1).rgb + src:at(-1, 1).rgb + src:at(1, 1).rgb
    local sides = src:at(0, -1).rgb + src:at(-1, 0).rgb + src:at(1, 0).rgb + src:at(0, 1).rgb
    return vec4(0.5 * corners + sides - 6 * src:at(0, 0).rgb + 0.5, src:at(0, 0).a)
  end,
}
