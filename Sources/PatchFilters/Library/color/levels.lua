-- Photoshop's levels, as GPUImage's: stretch from blackIn…whiteIn, a power of 1/middle, then to blackOut…whiteOut.
-- Encoded values; what is outside blackIn…whiteIn is clipped. Alpha is kept.
-- blackIn, whiteIn, blackOut, whiteOut: 0…1; middle: 0.1…10, above 1 lightens. Neutral 0, 1, 0, 1, 1 within 0…1.
return kernel {
  summary = "Sets black, white and middle grey.",
  params = {
    blackIn = { 0, min = 0, max = 1, neutral = 0, label = "Black in" },
    whiteIn = { 1, min = 0, max = 1, neutral = 1, label = "White in" },
    middle = { 1, min = 0.1, max = 10, neutral = 1, label = "Middle" },
    blackOut = { 0, min = 0, max = 1, neutral = 0, label = "Black out" },
    whiteOut = { 1, min = 0, max = 1, neutral = 1, label = "White out" },
  },
  pixel = function(c, p)
    local span = max(p.whiteIn - p.blackIn, 0.0001)
    local stretched = clamp((c.rgb - p.blackIn) / span, 0, 1)
    local bent = select(eq(p.middle, 1), stretched, pow(stretched, vec3(1 / p.middle)))
    return vec4(mix(vec3(p.blackOut), vec3(p.whiteOut), bent), c.a)
  end,
}
