"""Colour filters, from their published formulas: colorsys for HSV, SciPy's CubicSpline for tone
curves, the CIE and Kim et al. for colour temperature, GPUImage's documented shaders for its own inventions."""
import colorsys

import numpy as np
from scipy.interpolate import CubicSpline

import fixture
from fixture import LUMA

f = fixture.Fixture()
P = np.concatenate([fixture.palette().reshape(2, 8, 4), fixture.noise(8, 1, 21)], axis=0)
T = fixture.noise(4, 2, 22, opaque=False)
rgb = P[:, :, :3]


def case(name, result, params=None, image=None, **rest):
    """Alpha stays that of the picture."""
    image = P if image is None else image
    f.case(name, image, np.concatenate([result, image[:, :, 3:]], axis=2), params=params, **rest)


def grey(weights, c=rgb):
    return (c @ np.asarray(weights))[:, :, None]


def mixed(a, b, t):
    return a * (1 - t) + b * t


def smoothstep(low, high, x):
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


Y = grey(LUMA)
case("brightness", rgb + 0.125, {"brightness": 0.125})
case("contrast", (rgb - 0.5) * 1.5 + 0.5, {"contrast": 1.5})
case("exposure", rgb * 2 ** 0.5, {"exposure": 0.5})
case("gamma", rgb ** 1.8, {"gamma": 1.8})
case("saturation", mixed(Y, rgb, 1.5), {"saturation": 1.5})
case("grayscale", np.repeat(Y, 3, axis=2))
case("luminance", np.repeat(Y, 3, axis=2))
case("invert", 1 - rgb)
case("invert", 0.75 * T[:, :, :3] + 0.25 * (1 - T[:, :, :3]), {"amount": 0.25}, T, note="a quarter, see-through")
f.case(
    "opacity", T, np.concatenate([T[:, :, :3], T[:, :, 3:] * 0.5], axis=2), params={"opacity": 0.5})
case("rgb", rgb * [0.5, 1.25, 0], {"red": 0.5, "green": 1.25, "blue": 0})
case("luminanceThreshold", np.repeat((Y >= 0.4) * 1.0, 3, axis=2), {"threshold": 0.4})
case("solarize", np.where(Y > 0.45, 1 - rgb, rgb), {"threshold": 0.45})
case("posterize", np.floor(rgb * 6 + 0.5) / 6, {"levels": 6})
case("luminanceRange", rgb + (0.5 - Y) * 0.6, {"range": 0.6})

# GPUImage's sepia is a colour matrix.
sepia = np.array([[0.3588, 0.7044, 0.1368], [0.2990, 0.5870, 0.1140], [0.2392, 0.4696, 0.0912]])
case("sepia", mixed(rgb, rgb @ sepia.T, 0.5), {"intensity": 0.5})

matrix = np.array([[0.5, 0.25, 0, 0], [0, 1, 0.5, 0], [0.25, 0, 0.5, 0.25], [0, 0, 0, 1]])
case("colorMatrix", (P @ matrix.T)[:, :, :3], {"red": matrix[0], "green": matrix[1], "blue": matrix[2]})

# Levels, as Photoshop's dialogue says it.
stretched = np.clip((rgb - 0.125) / 0.75, 0, 1) ** (1 / 1.5)
case("levels", 0.0625 + stretched * (0.875 - 0.0625),
     {"blackIn": 0.125, "whiteIn": 0.875, "middle": 1.5, "blackOut": 0.0625, "whiteOut": 0.875})

lift, gamma, gain = np.array([0.1, 0, -0.05]), np.array([1.2, 1, 0.8]), np.array([1, 1.1, 0.9])
case("liftGammaGain", np.maximum(rgb * (gain - lift) + lift, 0) ** (1 / gamma),
     {"lift": lift, "gamma": gamma, "gain": gain})

# GPUImage's monochrome is overlay blending of the luminance with a colour.
tint = np.array([0.6, 0.45, 0.3])
overlay = np.where(Y < 0.5, 2 * Y * tint, 1 - 2 * (1 - Y) * (1 - tint))
case("monochrome", mixed(rgb, overlay, 0.75), {"intensity": 0.75, "color": [*tint, 1]})
first, second = np.array([0, 0, 0.5]), np.array([1, 0.5, 0])
case("falseColor", first + (second - first) * Y, {"first": [*first, 1], "second": [*second, 1]})

u, v = fixture.center_uv(8, 3)
fog = (v * 0.1 + 0.15)[:, :, None]
case("haze", (rgb - fog) / (1 - fog), {"distance": 0.15, "slope": 0.1})

average, most = rgb.mean(axis=2, keepdims=True), rgb.max(axis=2, keepdims=True)
push = (most - average) * (-0.5 * 3)
case("vibrance", rgb * (1 - push) + most * push, {"vibrance": 0.5})

# YIQ as in NTSC, turned; the inverse matrix as GPUImage has it.
yiq = np.array([[0.299, 0.587, 0.114], [0.595716, -0.274453, -0.321263], [0.211456, -0.522591, 0.311135]])
back = np.array([[1, 0.9563, 0.6210], [1, -0.2721, -0.6474], [1, -1.1070, 1.7046]])
angle = np.radians(-40)
turn = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
case("hue", rgb @ (back @ turn @ yiq).T, {"hue": 40})

warm = np.array([0.93, 0.54, 0])
soft = np.where(rgb < 0.5, 2 * rgb * warm, 1 - 2 * (1 - rgb) * (1 - warm))
case("whiteBalance", mixed(rgb, soft, 0.00006 * 2000), {"temperature": 7000}, note="7000 K")
case("whiteBalance", mixed(rgb, soft, 0.0004 * -1000), {"temperature": 4000}, note="4000 K")

# GPUImage's highlights and shadows.
case("highlightShadowTint", (lambda s: mixed(
    s, mixed(rgb, np.minimum(s, mixed(s, np.array([0, 0, 1.0]), Y)), 0.25), Y))(
        mixed(rgb, np.maximum(rgb, mixed(np.array([1.0, 0, 0]), rgb, Y)), 0.5)),
    {"shadowIntensity": 0.5, "highlightIntensity": 0.25})

lum = grey([0.3, 0.3, 0.3])
shadow = np.clip(lum ** (1 / 1.5) - 0.76 * lum ** (2 / 1.5) - lum, 0, 1)
high = np.clip(1 - ((1 - lum) ** (1 / 1.25) - 0.8 * (1 - lum) ** (2 / 1.25)) - lum, -1, 0)
with np.errstate(divide="ignore", invalid="ignore"):
    ratio = np.where(lum > 0, (lum + shadow + high) / lum, 0)
case("highlightShadow", rgb * ratio, {"shadows": 0.5, "highlights": 0.75})

# Tone curves: SciPy's natural spline.
xs, ys = [0, 0.2, 0.5, 0.75, 1], [0.05, 0.15, 0.6, 0.85, 0.95]
spline = CubicSpline(xs, ys, bc_type="natural")
names = ["black", "dark", "middle", "light", "white"]
case("toneCurve", np.clip(spline(rgb), 0, 1), dict(zip(names, zip(xs, ys))))
xs = [0.1, 0.3, 0.4, 0.6, 0.9]
spline = CubicSpline(xs, ys, bc_type="natural")
case("toneCurve", np.clip(spline(np.clip(rgb, xs[0], xs[-1])), 0, 1), dict(zip(names, zip(xs, ys))),
     note="ends within the range")
fifths = [0, 0.25, 0.5, 0.75, 1]
curves = {"red": [0.3, 0.6, 0.8], "green": [0.2, 0.5, 0.7], "blue": [0.25, 0.4, 0.75]}
whole = CubicSpline(fifths, [0, 0.2, 0.5, 0.8, 1], bc_type="natural")
own = np.stack([
    CubicSpline(fifths, [0.05 * i, *curve, 1 - 0.05 * i], bc_type="natural")(rgb[:, :, i])
    for i, curve in enumerate(curves.values())], axis=2)
case("curvesRGB", np.clip(whole(np.clip(own, 0, 1)), 0, 1),
     {**curves, "all": [0.2, 0.5, 0.8], "black": [0, 0.05, 0.1], "white": [1, 0.95, 0.9]})

# Skin: Python's own colorsys.
def skin(pixel, amount, hue=0.05, threshold=40, by=0.25, saturation=0.4):
    h, s, value = colorsys.rgb_to_hsv(*pixel)
    d = min(abs(h - hue), 1 - abs(h - hue))
    share = np.exp(-threshold * d * d) * float(smoothstep(0, 0.1, s)) * amount
    return colorsys.hsv_to_rgb((h + share * by) % 1, min(1, max(0, s * (1 + share * saturation))), value)


for amount in (0.5, -0.25):
    case("skinTone", np.apply_along_axis(skin, 2, rgb, amount), {"amount": amount})

# HSB: a turn about the grey axis by Rodrigues' formula, then saturation, then brightness.
theta = np.radians(30)
k = np.ones(3) / np.sqrt(3)
cross = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
rotation = np.eye(3) * np.cos(theta) + np.sin(theta) * cross + (1 - np.cos(theta)) * np.outer(k, k)
turned = rgb @ rotation.T
light = grey([0.30, 0.59, 0.11], turned)
case("hsb", (light + (turned - light) * 1.2) * 1.1, {"hue": 30, "saturation": 1.2, "brightness": 1.1})


# Colour balance with GIMP's weights; lightness put back in HLS by colorsys.
def balance(pixel, shadows, midtones, highlights, keep):
    l = (max(pixel) + min(pixel)) / 2
    ramp = lambda x: min(1, max(0, x * 4 + 0.5))
    weights = (0.7 * ramp(1 / 3 - l), 0.7 * ramp(l - 1 / 3) * ramp(2 / 3 - l), 0.7 * ramp(l - 2 / 3))
    moved = [min(1, max(0, c + shadows[i] * weights[0] + midtones[i] * weights[1] + highlights[i] * weights[2]))
             for i, c in enumerate(pixel)]
    if not keep:
        return np.array(moved, dtype=float)
    # The spread shrinks where it does not fit around the old lightness, and stays where it does.
    now = (max(moved) + min(moved)) / 2
    fit = min(1, (1 - abs(2 * l - 1)) / max(1 - abs(2 * now - 1), 1e-4))
    return np.array([min(1, max(0, l + (c - now) * fit)) for c in moved], dtype=float)


amounts = ([0.2, 0, -0.2], [-0.1, 0.2, 0], [0.1, 0.05, -0.3])
for keep in (1, 0):
    case("colorBalance", np.apply_along_axis(balance, 2, rgb, *amounts, keep),
         {"shadows": amounts[0], "midtones": amounts[1], "highlights": amounts[2], "keepLightness": keep})


# Colour temperature: xy of the Planckian locus, the sRGB matrix inverted from its primaries, the sRGB curve.
def planck(t):
    if t <= 4000:
        x = -0.2661239e9 / t ** 3 - 0.2343589e6 / t ** 2 + 0.8776956e3 / t + 0.179910
    else:
        x = -3.0258469e9 / t ** 3 + 2.1070379e6 / t ** 2 + 0.2226347e3 / t + 0.240390
    if t <= 2222:
        y = np.polyval([-1.1063814, -1.34811020, 2.18555832, -0.20219683], x)
    elif t <= 4000:
        y = np.polyval([-0.9549476, -1.37418593, 2.09137015, -0.16748867], x)
    else:
        y = np.polyval([3.0817580, -5.87338670, 3.75112997, -0.37001483], x)
    return np.array([x / y, 1, (1 - x - y) / y])


def srgb_matrix():
    xyz = lambda x, y: np.array([x / y, 1, (1 - x - y) / y])
    primaries = np.stack([xyz(0.64, 0.33), xyz(0.30, 0.60), xyz(0.15, 0.06)], axis=1)
    return primaries * np.linalg.solve(primaries, xyz(0.3127, 0.3290))


def decode(c):
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def encode(c):
    return np.where(c <= 0.0031308, c * 12.92, 1.055 * np.maximum(c, 1e-9) ** (1 / 2.4) - 0.055)


white = lambda t: np.linalg.solve(srgb_matrix(), planck(t))
for kelvin, tint in ((3200, 0), (2100, 0), (9000, 0.2)):
    gain = white(6500) / np.maximum(white(kelvin), 0.02) * np.array([1, 2 ** -tint, 1])
    gain /= gain @ np.array([0.2126, 0.7152, 0.0722])
    case("temperature", encode(decode(rgb) * gain), {"kelvin": kelvin, "tint": tint}, note=f"{kelvin} K")

color = np.array([0.25, 0.5, 0.75, 0.5])
f.case("solidColor", T, np.broadcast_to(color, T.shape), params={"color": color})
faded = np.broadcast_to(color, T.shape).copy()
faded[:, :, 3] = T[:, :, 3] * 0.5
f.case("solidColor", T, faded, params={"color": color, "useExistingAlpha": 1}, note="with the picture's alpha")


# Our looks, from the numbers in their comments.
def look(name, tone, saturation, low, high):
    toned = tone(rgb)
    own = grey(LUMA, toned)
    case(name, np.clip(mixed(own, toned, saturation) + mixed(np.array(low), np.array(high), Y), 0, 1))


look("amatorka", lambda c: 0.06 + 0.90 * smoothstep(-0.15, 1.15, c), 0.78, [-0.03, 0.02, 0.03], [0.04, 0.025, -0.05])
look("missEtikate", lambda c: mixed(c, smoothstep(0, 1, c), 0.6), 1.12, [0.035, -0.015, 0.03], [0.03, 0.01, -0.03])
look("softElegance", lambda c: 0.05 + 0.93 * c ** 0.82, 0.85, [0.02, 0.005, 0.04], [0.02, 0.01, -0.02])
f.write()
