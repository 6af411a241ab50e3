"""Beautify and skinSmooth in double precision, step by step, from the text of the demo's chain."""
import numpy as np
from scipy import ndimage

import fixture
from fixture import Fixture

f = Fixture()
random = np.random.default_rng(11)
y, x = np.mgrid[0:40, 0:52]
# A face: skin with soft light and freckles, two eyes, a mouth, hair behind.
face = np.hypot((x - 25) / 17, (y - 21) / 19)
picture = np.empty((40, 52, 3))
picture[:] = [0.16, 0.11, 0.1]
skin = np.array([0.86, 0.62, 0.48])
light = 0.86 + 0.14 * np.cos((x - 18) / 14)[..., None]
picture = np.where((face < 1)[..., None], skin * light, picture)
for cx, cy in ((18, 16), (32, 16)):
    picture = np.where((np.hypot((x - cx) / 3.2, (y - cy) / 1.8) < 1)[..., None], [0.1, 0.12, 0.2], picture)
picture = np.where((np.hypot((x - 25) / 7, (y - 30) / 1.9) < 1)[..., None], [0.7, 0.2, 0.24], picture)
picture += 0.035 * random.standard_normal(picture.shape)
picture = np.round(np.clip(ndimage.gaussian_filter(picture, (0.6, 0.6, 0)), 0, 1) * 255) / 255


def shifted(a, dx, dy):
    rows = np.clip(np.arange(a.shape[0]) + dy, 0, a.shape[0] - 1)
    columns = np.clip(np.arange(a.shape[1]) + dx, 0, a.shape[1] - 1)
    return a[rows][:, columns]


def bilateral(a, dx, dy):
    weights = [0.05, 0.09, 0.12, 0.15, 0.18, 0.15, 0.12, 0.09, 0.05]
    total, sums = np.full(a.shape[:2], weights[4]), a * weights[4]
    for i in (-4, -3, -2, -1, 1, 2, 3, 4):
        tap = shifted(a, 4 * i * dx, 4 * i * dy)
        w = weights[i + 4] * (1 - np.minimum(np.sqrt(((a - tap) ** 2).sum(axis=2)) * 4, 1))
        total, sums = total + w, sums + w[..., None] * tap
    return sums / total[..., None]


def canny(a):
    luma = a @ [0.2125, 0.7154, 0.0721]
    taps = np.exp(-np.arange(-4, 5) ** 2 / 8)
    taps /= taps.sum()
    luma = ndimage.correlate1d(ndimage.correlate1d(luma, taps, 0, mode="nearest"), taps, 1, mode="nearest")
    sobel = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    gx = ndimage.correlate(luma, sobel, mode="nearest")
    gy = ndimage.correlate(luma, sobel.T, mode="nearest")
    strength = np.hypot(gx, gy)
    with np.errstate(invalid="ignore", divide="ignore"):
        direction = [np.sign(g) * np.floor(np.abs(np.nan_to_num(g / strength)) + 0.617316) for g in (gx, gy)]
    kept = np.zeros(strength.shape)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            here = (direction[0] == dx) & (direction[1] == dy)
            most = np.maximum(shifted(strength, dx, dy), shifted(strength, -dx, -dy))
            kept = np.where(here & (strength >= most), strength, kept)
    t = np.clip((kept - 0.1) / 0.3, 0, 1)
    kept = t * t * (3 - 2 * t)
    near = ndimage.correlate(kept, np.ones((3, 3)), mode="nearest")
    assert np.abs(near[kept > 0] - 1.5).min() > 1e-3
    return (near >= 1.5) & (kept >= 0.01)


def beautify(a, smooth, brightness, saturation):
    soft = bilateral(bilateral(a, 0, 1), 1, 0)
    r, g, b = a[..., 0], a[..., 1], a[..., 2]
    is_skin = ~canny(a) & (r > 0.3725) & (g > 0.1568) & (b > 0.0784) & (r > b)
    is_skin &= (a.max(axis=2) - a.min(axis=2) > 0.0588) & (np.abs(r - g) > 0.0588)
    out = np.where(is_skin[..., None], (1 - smooth) * (a - soft) + soft, a)
    out = np.log(1 + 0.2 * out) / np.log(1.2) * brightness
    grey = (out @ [0.30, 0.59, 0.11])[..., None]
    return grey + (out - grey) * saturation, is_skin


out, is_skin = beautify(picture, 0.5, 1.1, 1.1)
assert 0.3 < is_skin.mean() < 0.8 and canny(picture).sum() > 60
f.case("beautify", picture, out, within=2, note="a face")
f.case("beautify", picture, beautify(picture, 1, 1, 1)[0], {"smooth": 1, "brightness": 1, "saturation": 1}, within=2)
f.case("beautify", picture, beautify(picture, 0, 1.1, 0)[0], {"smooth": 0, "saturation": 0}, within=2)


def smoothstep(low, high, v):
    t = np.clip((v - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def skin_smooth(a, smooth, detail, radius, contrast):
    def g(p):
        return ndimage.gaussian_filter(p, radius * a.shape[0], mode="nearest", truncate=6)
    luma = a @ [0.299, 0.587, 0.114]
    cb, cr = (a[..., 2] - luma) / 1.772, (a[..., 0] - luma) / 1.402
    hair = smoothstep(-0.01, 0.01, cr + 0.65 * cb)
    cb, cr = cb + 0.084, cr - 0.106
    c, s = np.cos(np.radians(-35)), np.sin(np.radians(-35))
    mask = 1 - smoothstep(1, 1.6, np.hypot((cb * c - cr * s) / 0.04, (cb * s + cr * c) / 0.075))
    mask *= smoothstep(0.04, 0.12, luma) * hair
    mean = g(luma)
    variance = g(luma ** 2) - mean ** 2
    slope = variance / (variance + contrast ** 2)
    change = g(slope) * luma + g(mean * (1 - slope)) - luma
    return a + (smooth * (1 - detail) * g(g(mask)) * mask * change)[..., None]


f.case("skinSmooth", picture, skin_smooth(picture, 0.7, 0.15, 0.01, 0.07), within=2, note="a face")
f.case("skinSmooth", picture, skin_smooth(picture, 1, 0, 0.05, 0.2), {"smooth": 1, "detail": 0, "radius": 0.05, "contrast": 0.2},
       within=2)
f.write()
