"""Effects: GPUImage's published shaders in NumPy, skimage/SciPy for Sobel, Gaussians and windows; our own effects from their
definitions. The hash of kernels (docs/decisions) is written anew here, so that noise has expected values too."""
import numpy as np
from scipy import ndimage

import fixture
from fixture import LUMA

f = fixture.Fixture()
W, H = 12, 8
u, v = fixture.center_uv(W, H)
image = fixture.smooth(W, H, 51)
sharp = fixture.noise(W, H, 52)
holes = fixture.smooth(W, H, 53)
holes[:, :, 3] = fixture.noise(W, H, 54, opaque=False)[:, :, 3]


def pre(p):
    return np.concatenate([p[:, :, :3] * p[:, :, 3:], p[:, :, 3:]], axis=2)


def post(p):
    a = np.where(p[:, :, 3:] > 1e-6, p[:, :, 3:], 1)
    return np.concatenate([p[:, :, :3] / a, p[:, :, 3:]], axis=2)


def read(p, uu, vv, edge="nearest", order=1):
    h, w = p.shape[:2]
    return np.stack([ndimage.map_coordinates(p[:, :, c], [vv * h - 0.5, uu * w - 0.5], order=order, mode=edge)
                     for c in range(p.shape[2])], axis=2)


def read_zero(p, uu, vv):
    padded = np.pad(p, ((2, 2), (2, 2), (0, 0)))
    where = [np.clip(vv * H + 1.5, 0, H + 3), np.clip(uu * W + 1.5, 0, W + 3)]
    return np.stack([ndimage.map_coordinates(padded[:, :, c], where, order=1) for c in range(p.shape[2])], axis=2)


def opaque(rgb, like=None):
    alpha = np.ones((H, W, 1)) if like is None else like[:, :, 3:]
    return np.concatenate([np.broadcast_to(rgb, (H, W, 3)), alpha], axis=2)


def smoothstep(low, high, x):
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


# Cells, GPUImage's: samplePos = tc - mod(tc, divisor) + divisor / 2 with divisor = (w, w * aspect).
side = 0.21
divisor = np.array([side, side * W / H])
cu, cv = u - u % divisor[0] + divisor[0] / 2, v - v % divisor[1] + divisor[1] / 2
cell = post(read(pre(image), cu, cv))
f.case("pixellate", image, cell, params={"side": side}, within=2)
aspect = H / W
away = np.hypot(cu - u, (cv - v) * aspect)
inside = (away <= side * 0.5 * 0.8)[:, :, None]
f.case("polkaDot", image, opaque(cell[:, :, :3] * inside), params={"side": side, "dot": 0.8}, within=2)
dot = 1 - cell[:, :, :3] @ LUMA
f.case("halftone", image, opaque((1 - (away <= side * 0.5 * dot))[:, :, None] * 1.0), params={"side": side})
x, y = 2 * u - 1 + 0.2, 2 * v - 1
r, phi = np.hypot(x, y), np.arctan2(y, x)
r, phi = r - r % 0.3 + 0.03, phi - phi % 0.7
f.case("polarPixellate", image, post(read(pre(image), (r * np.cos(phi) - 0.2) / 2 + 0.5, r * np.sin(phi) / 2 + 0.5)),
       params={"radius": 0.3, "angle": 0.7, "center": [0.4, 0.5]}, within=2)

lum = sharp[:, :, :3] @ LUMA
paper = np.ones((H, W))
for below, along in ((1, u + v), (0.75, u - v), (0.5, u + v - 0.15), (0.3, u - v - 0.15)):
    paper[(lum < below) & (along % 0.3 <= 0.101)] = 0
f.case("crosshatch", sharp, opaque(paper[:, :, None]), params={"spacing": 0.3, "width": 0.1})


def sobel(grey):
    return np.hypot(ndimage.sobel(grey, axis=0, mode="nearest"), ndimage.sobel(grey, axis=1, mode="nearest"))


edge = sobel(lum)
f.case("sketch", sharp, opaque(np.clip(1 - 0.5 * edge, 0, 1)[:, :, None]), params={"strength": 0.5}, within=2)
f.case("thresholdSketch", sharp, opaque((edge < 0.9)[:, :, None] * 1.0), params={"threshold": 0.9})
red = sobel(sharp[:, :, 0])
posterised = np.floor(sharp[:, :, :3] * 6 + 0.5) / 6
f.case("toon", sharp, opaque(posterised * (red < 1.2)[:, :, None]), params={"threshold": 1.2, "levels": 6})
f.case("toon", sharp, opaque(posterised * (edge < 1.2)[:, :, None]), note="lines by luminance",
       params={"threshold": 1.2, "levels": 6, "byLuminance": 1})
# The blurred picture is compared in the middle of a rounding step only: many levels, and no lines.
blurred = np.stack([ndimage.gaussian_filter(sharp[:, :, c], 1.25, mode="nearest", truncate=4 / 1.25) for c in range(3)], 2)
f.case("smoothToon", sharp, opaque(blurred), params={"sigma": 1.25, "levels": 64, "threshold": 4}, within=4,
       why="64 levels round by up to 2/255 on top of the stencil's 2/255")
lines = np.repeat(np.concatenate([np.full((H, 6), 0.125), np.full((H, 6), 0.875)], axis=1)[:, :, None], 3, axis=2)
soft = ndimage.gaussian_filter(lines[:, :, 0], 1, mode="nearest", truncate=4)
toon = np.floor(soft * 2 + 0.5) / 2 * (sobel(soft) < 0.5)
f.case("smoothToon", opaque(lines), opaque(toon[:, :, None]), params={"sigma": 1, "levels": 2, "threshold": 0.5})


def kuwahara(p, n):
    """Mean and variance of the four windows by their definition, pixel by pixel."""
    wide = np.pad(p[:, :, :3], ((n, n), (n, n), (0, 0)), mode="edge")
    result = np.zeros((H, W, 3))
    for yy in range(H):
        for xx in range(W):
            windows = [wide[yy + dy:yy + dy + n + 1, xx + dx:xx + dx + n + 1].reshape(-1, 3)
                       for dx in (0, n) for dy in (0, n)]
            result[yy, xx] = min(windows, key=lambda w: w.var(axis=0).sum()).mean(axis=0)
    return result


f.case("kuwahara", sharp, opaque(kuwahara(sharp, 2)), options={"radius": 2}, within=2)
f.case("kuwaharaRadius3", sharp, opaque(kuwahara(sharp, 3)), within=2)

t = smoothstep(0.3, 0.75, np.hypot(u - 0.5, v - 0.5))[:, :, None] * 0.5
f.case("vignette", image, opaque(image[:, :, :3] * (1 - t) + np.array([0, 0, 0.5]) * t),
       params={"amount": 0.5, "color": [0, 0, 0.5, 1]})


SEED, STEPS = 0x9E3779B9, ((16, 0x21F0AAAD), (15, 0xD35A2D97))


def hashed(*words):
    """The kernels' hash: a 32-bit mix of each word (as an integer), the top 24 bits as a fraction."""
    shape = np.broadcast(*words).shape
    state = np.full(shape, SEED, dtype=np.uint64)
    mask = np.uint64(0xFFFFFFFF)
    for word in words:
        state = state ^ (np.broadcast_to(np.asarray(word, dtype=np.int64), shape).astype(np.uint64) & mask)
        for shift, factor in STEPS:
            state = ((state ^ (state >> np.uint64(shift))) * np.uint64(factor)) & mask
        state = state ^ (state >> np.uint64(15))
    return (state >> np.uint64(8)).astype(float) / 2 ** 24


def WORD(number):
    """The bits of a float: what hashes take of it."""
    return np.asarray(number, dtype=np.float32).view(np.int32)


def perlin(px, py, layer):
    ix, iy = np.floor(px), np.floor(py)
    fx, fy = px - ix, py - iy

    def corner(dx, dy):
        a = 2 * np.pi * hashed(WORD(ix + dx), WORD(iy + dy), WORD(layer))
        return (fx - dx) * np.cos(a) + (fy - dy) * np.sin(a)

    fade = lambda t: 6 * t ** 5 - 15 * t ** 4 + 10 * t ** 3
    top = corner(0, 0) + (corner(1, 0) - corner(0, 0)) * fade(fx)
    low = corner(0, 1) + (corner(1, 1) - corner(0, 1)) * fade(fx)
    return top + (low - top) * fade(fy)


n = np.clip(0.5 + np.sqrt(0.5) * perlin(u * 3, v * H / W * 3, 4096 * 2), 0, 1)[:, :, None]
a, b = np.array([0.25, 0, 0.5, 1]), np.array([1, 0.75, 0.5, 0.5])
f.case("perlinNoise", image, a + (b - a) * n, params={"scale": 3, "seed": 2, "first": a, "second": b})
# Half a second on, at 3 cells a second: between layers 1 and 2.
n = 0.5 * perlin(u * 3, v * H / W * 3, 1) + 0.5 * perlin(u * 3, v * H / W * 3, 2)
f.case("perlinNoise", image, opaque(np.clip(0.5 + np.sqrt(0.5) * n, 0, 1)[:, :, None]), params={"scale": 3, "speed": 3},
       tick=15, note="moving")

# The nearest of the four colours, by distance; cells of 2 x 2 pixels read at their top left pixel.
colors = np.array([[1, 1, 1], [0, 0, 0], [0, 1, 1], [1, 0, 1]], dtype=float)
corner = np.repeat(np.repeat(sharp[::2, ::2, :3], 2, axis=0), 2, axis=1)
nearest = np.linalg.norm(corner[:, :, None] - colors, axis=3).argmin(axis=2)
f.case("cga", sharp, opaque(colors[nearest]), params={"columns": 6, "rows": 4})

tiles = fixture.smooth(16, 16, 55)
# 4 x 4 tiles of 4 x 4 pixels; cells of 3 x 2 pixels show tile floor((1 - Y) * 16).
expected = np.zeros((H, W, 3))
for yy in range(H):
    for xx in range(W):
        x0, y0 = xx // 3 * 3, yy // 2 * 2
        color = read(sharp, np.array([[x0 / W]]), np.array([[y0 / H]]))[0, 0, :3]
        number = min(15, int((1 - color @ np.array([0.299, 0.587, 0.114])) * 16))
        place = [(number % 4 + (xx + 0.5 - x0) / 3) / 4, (number // 4 + (yy + 0.5 - y0) / 2) / 4]
        expected[yy, xx] = read(tiles, np.array([[place[0]]]), np.array([[place[1]]]))[0, 0, :3] * color
f.case("mosaic", {"image": sharp, "tiles": tiles}, opaque(expected), within=2,
       params={"inputTile": 0.25, "displayTile": 0.25, "count": 16})


def voronoi(scale, jitter, seed):
    """Brute force: all points of a wide grid, the two nearest."""
    best = np.full((H, W), np.inf)
    second = best.copy()
    color = np.zeros((H, W, 3))
    px, py = u * scale, v * H / W * scale
    for iy in range(-2, 8):
        for ix in range(-2, 10):
            ox = ix + 0.5 + (hashed(WORD(ix), WORD(iy), WORD(2 * seed)) - 0.5) * jitter
            oy = iy + 0.5 + (hashed(WORD(ix), WORD(iy), WORD(2 * seed + 1)) - 0.5) * jitter
            d = np.hypot(px - ox, py - oy)
            here = read(image, np.full((H, W), ox / scale), np.full((H, W), oy / scale * W / H))[:, :, :3]
            closer = d < best
            second = np.where(closer, best, np.minimum(second, d))
            best = np.where(closer, d, best)
            color = np.where(closer[:, :, None], here, color)
    return color, second - best


color, gap = voronoi(5, 0.6, 3)
color[gap < 0.15] = [1, 0, 0]
f.case("voronoi", image, opaque(color), within=2,
       params={"side": 0.2, "jitter": 0.6, "seed": 3, "line": 0.15, "lineColor": [1, 0, 0, 1]})

px, py = np.floor(u * W / 2), np.floor(v * H / 2)


def grain(channel, frame):
    return (hashed(WORD(px), WORD(py), frame, WORD(channel)) + hashed(WORD(px), WORD(py), frame, WORD(channel + 1)) - 1)


grey = image[:, :, :3] @ LUMA
noise = 0.75 * grain(0, 2)[:, :, None] + 0.25 * np.stack([grain(c, 2) for c in (2, 4, 6)], axis=2)
weight = 0.2 * (4 * grey * (1 - grey) * 0.5 + 0.5)
f.case("filmGrain", image, opaque(image[:, :, :3] + noise * weight[:, :, None]), tick=2,
       params={"amount": 0.2, "grain": 2, "color": 0.25, "shadows": 0.5})

rows = np.arange(H)[:, None, None]
f.case("scanlines", image, opaque(image[:, :, :3] * (1 - 0.5 * (0.5 + 0.5 * np.cos(2 * np.pi * rows / 4)))),
       params={"amount": 0.5, "period": 4})
f.case("scanlines", image, opaque(image[:, :, :3] * (1 - 0.5 * (0.5 + 0.5 * np.cos(2 * np.pi * (rows - 1) / 4)))),
       params={"amount": 0.5, "period": 4, "speed": 3}, tick=10, note="a third of a second on")

whole = pre(image)
expected = whole.copy()
expected[:, :, 0] = read(whole, 0.5 + (u - 0.5) * 0.95, 0.5 + (v - 0.5) * 0.95)[:, :, 0]
expected[:, :, 2] = read(whole, 0.5 + (u - 0.5) * 1.05, 0.5 + (v - 0.5) * 1.05)[:, :, 2]
f.case("chromaticAberration", image, expected, params={"amount": 0.05}, within=2)

# Glitch: 4 bands of 2 rows; shifts rounded to whole pixels by reading the nearest pixel, around the edge.
moment = np.floor(0.5 * 12) + 7 * 100000
glitched = np.zeros((H, W, 3))
for yy in range(H):
    band = yy // 2
    jumps = 1 if hashed(WORD(band), WORD(moment)) < 0.6 else 0
    by = (hashed(WORD(band), WORD(moment), WORD(1)) * 2 - 1) * 0.3 * jumps
    for xx in range(W):
        for c, split in enumerate((-0.1, 0, 0.1)):
            at = int(np.floor(((xx + 0.5) / W + by + split * jumps) * W)) % W
            glitched[yy, xx, c] = sharp[yy, at, c]
f.case("glitch", sharp, opaque(glitched), tick=15,
       params={"amount": 0.6, "shift": 0.3, "split": 0.1, "bands": 4, "rate": 12, "seed": 7})

# A rounded rectangle by sampling the exact shape 32 x 32 times in each pixel: the smoothed edge is near that coverage.
radius = 3.0
fine = (np.arange(32) + 0.5) / 32
gx, gy = np.meshgrid((np.arange(W)[:, None] + fine).ravel(), (np.arange(H)[:, None] + fine).ravel())
qx, qy = np.maximum(abs(gx - W / 2) - (W / 2 - radius), 0), np.maximum(abs(gy - H / 2) - (H / 2 - radius), 0)
cover = (np.hypot(qx, qy) <= radius).reshape(H, 32, W, 32).mean(axis=(1, 3))
f.case("roundCorners", image, np.concatenate([image[:, :, :3], cover[:, :, None]], axis=2), params={"radius": 3 / H},
       within=16, why="the edge is smoothed by distance, not by the area that the pixel's square covers")

# Outline: the largest alpha on two rings of 16 places.
blob = image.copy()
blob[:, :, 3] = 0
blob[3:5, 4:8, 3] = 1
p = pre(blob)
most = p[:, :, 3]
for ring in (0.5, 1):
    for i in range(16):
        a = 2 * np.pi * i / 16
        ou, ov = 0.05 * ring * np.cos(a) * H / W, 0.05 * ring * np.sin(a)
        most = np.maximum(most, read_zero(p, u + ou, v + ov)[:, :, 3])
# Narrower than a pixel it is as faint as it is narrow.
line = np.array([1, 0.5, 0, 1]) * (most * min(1, 0.05 * H))[:, :, None]
f.case("outline", blob, post(p + line * (1 - p[:, :, 3:])), params={"width": 0.05, "color": [1, 0.5, 0, 1]}, within=2)


def gauss(p, sigma):
    """A Gaussian of sigma heights; beyond the picture its edge goes on."""
    pixels = sigma * p.shape[0]
    return ndimage.gaussian_filter(p, (pixels, pixels, 0), mode="nearest", truncate=6)


shadow = gauss(p[:, :, 3:], 0.1)
moved = read(shadow, u - 0.125 * H / W, v - 0.0625) * 0.5
dark = np.concatenate([np.array([0, 0, 0.5]) * moved, moved], axis=2)
f.case("dropShadow", blob, post(p + dark * (1 - p[:, :, 3:])), within=2,
       params={"offset": [0.125, 0.0625], "blur": 0.1, "opacity": 0.5, "color": [0, 0, 0.5, 1]})

top = sharp[:, :, :3].max(axis=2, keepdims=True)
bright = sharp[:, :, :3] * smoothstep(0.6, 0.8, top)
light = np.clip(gauss(bright, 0.1) * 0.75, 0, 1)
f.case("bloom", sharp, opaque(1 - (1 - sharp[:, :, :3]) * (1 - light)), within=2,
       params={"intensity": 0.75, "threshold": 0.6, "knee": 0.2, "radius": 0.1})
f.write()
