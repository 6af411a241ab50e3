-- Balances the white of a light of a colour temperature to daylight, in linear light, as a colourist does: each channel is
-- multiplied by white(6500 K) / white(kelvin), the gains scaled so that greys keep their luminance (.2126 .7152 .0722).
-- white(T): the Planckian locus by Kim et al.'s cubic approximation (US patent 7024034, 1667…25000 K), in BT.709 primaries.
-- tint multiplies green by 2^-tint (and the luminance is kept again). Alpha is kept.
-- kelvin: what the scene was lit with, 2000…12000, neutral 6500: lower values cool the picture down, higher ones warm
-- it up.
-- tint: -1…1, neutral 0, positive is magenta.
local function white(t)
  local u = 1000 / t
  local warm = ((-0.2661239 * u - 0.2343589) * u + 0.8776956) * u + 0.179910
  local cool = ((-3.0258469 * u + 2.1070379) * u + 0.2226347) * u + 0.240390
  local x = select(le(t, 4000), warm, cool)
  local y = select(le(t, 2222), ((-1.1063814 * x - 1.34811020) * x + 2.18555832) * x - 0.20219683,
    select(le(t, 4000), ((-0.9549476 * x - 1.37418593) * x + 2.09137015) * x - 0.16748867,
      ((3.0817580 * x - 5.87338670) * x + 3.75112997) * x - 0.37001483))
  local big, z = x / y, (1 - x - y) / y
  -- XYZ to linear BT.709.
  return vec3(
    3.2404542 * big - 1.5371385 - 0.4985314 * z,
    -0.9692660 * big + 1.8760108 + 0.0415560 * z,
    0.0556434 * big - 0.2040259 + 1.0572252 * z)
end

return kernel {
  summary = "Balances the white of warm or cool light.",
  light = "linear",
  params = {
    kelvin = { 6500, min = 2000, max = 12000, neutral = 6500, unit = "K", label = "Light's temperature" },
    tint = { 0, min = -1, max = 1, neutral = 0, label = "Tint" },
  },
  pixel = function(c, p)
    -- A little red and no blue is left of very warm light: the least gain is bounded.
    local gain = white(6500) / max(white(p.kelvin), 0.02) * vec3(1, exp2(-p.tint), 1)
    return vec4(c.rgb * (gain / dot(gain, vec3(0.2126, 0.7152, 0.0722))), c.a)
  end,
}
