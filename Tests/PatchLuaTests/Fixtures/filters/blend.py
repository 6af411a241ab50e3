"""Blend modes, from W3C Compositing and Blending Level 1 (separable and non-separable modes, general compositing) and, for
the modes that W3C does not have, from Adobe's PDF-era definitions as collected in the PhotoShop blend mode literature.
Written per pixel from the specification's text, on straight colour."""
import numpy as np
from scipy.sparse import csr_matrix, lil_matrix
from scipy.sparse.linalg import spsolve

import fixture


def lum(c):
    return 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2]


def clip_color(c):
    l, n, x = lum(c), min(c), max(c)
    c = np.array(c, dtype=float)
    if n < 0:
        c = l + (c - l) * l / (l - n)
    if x > 1:
        c = l + (c - l) * (1 - l) / (x - l)
    return c


def set_lum(c, l):
    return clip_color(np.array(c, dtype=float) + (l - lum(c)))


def sat(c):
    return max(c) - min(c)


def set_sat(c, s):
    """The specification's procedure on sorted channels."""
    order = np.argsort(c, kind="stable")
    low, mid, high = order
    result = [0.0, 0.0, 0.0]
    if c[high] > c[low]:
        result[mid] = (c[mid] - c[low]) * s / (c[high] - c[low])
        result[high] = s
    return result


def each(function):
    return lambda b, s: [function(x, y) for x, y in zip(b, s)]


def color_dodge(b, s):
    return 0 if b == 0 else 1 if s == 1 else min(1, b / (1 - s))


def color_burn(b, s):
    return 1 if b == 1 else 0 if s == 0 else 1 - min(1, (1 - b) / s)


def hard_light(b, s):
    return 2 * b * s if s <= 0.5 else b + (2 * s - 1) - b * (2 * s - 1)


def soft_light(b, s):
    if s <= 0.5:
        return b - (1 - 2 * s) * b * (1 - b)
    d = ((16 * b - 12) * b + 4) * b if b <= 0.25 else b ** 0.5
    return b + (2 * s - 1) * (d - b)


MODES = {
    "multiply": each(lambda b, s: b * s),
    "screen": each(lambda b, s: 1 - (1 - b) * (1 - s)),
    "overlay": each(lambda b, s: hard_light(s, b)),
    "darken": each(min),
    "lighten": each(max),
    "colorDodge": each(color_dodge),
    "colorBurn": each(color_burn),
    "hardLight": each(hard_light),
    "softLight": each(soft_light),
    "difference": each(lambda b, s: abs(b - s)),
    "exclusion": each(lambda b, s: b + s - 2 * b * s),
    "hue": lambda b, s: set_lum(set_sat(s, sat(b)), lum(b)),
    "saturation": lambda b, s: set_lum(set_sat(b, sat(s)), lum(b)),
    "color": lambda b, s: set_lum(s, lum(b)),
    "luminosity": lambda b, s: set_lum(b, lum(s)),
    # Not W3C's.
    "add": each(lambda b, s: min(1, b + s)),
    "linearDodge": each(lambda b, s: min(1, b + s)),
    "linearBurn": each(lambda b, s: max(0, b + s - 1)),
    "subtract": each(lambda b, s: max(0, b - s)),
    "divide": each(lambda b, s: (0 if b == 0 else 1) if s == 0 else min(1, b / s)),
    "softLightClassic": each(lambda b, s: (1 - 2 * s) * b * b + 2 * s * b),
    "vividLight": each(lambda b, s: color_burn(b, 2 * s) if s <= 0.5 else color_dodge(b, 2 * s - 1)),
    "linearLight": each(lambda b, s: min(1, max(0, b + 2 * s - 1))),
    "pinLight": each(lambda b, s: min(b, 2 * s) if s <= 0.5 else max(b, 2 * s - 1)),
    "hardMix": each(lambda b, s: 1 if b + s >= 1 else 0),
    "normal": lambda b, s: s,
    "sourceOver": lambda b, s: s,
}


def composite(backdrop, source, mode, opacity=1.0, mask=None):
    """W3C section 5.1 with source over: co = cs as (1 - ab) + cs' as ab + (1 - as) ab cb, divided by ao."""
    result = np.zeros_like(backdrop)
    for y in range(backdrop.shape[0]):
        for x in range(backdrop.shape[1]):
            cb, ab = backdrop[y, x, :3], backdrop[y, x, 3]
            cs, alpha = source[y, x, :3], source[y, x, 3] * opacity
            if mask is not None:
                m = mask[y, x]
                alpha *= (0.2126 * m[0] + 0.7152 * m[1] + 0.0722 * m[2]) * m[3]
            mixed = (1 - ab) * cs + ab * np.array(mode(cb, cs), dtype=float)
            co = (1 - alpha) * ab * cb + alpha * mixed
            ao = alpha + ab * (1 - alpha)
            result[y, x] = [*(co / ao if ao > 0 else co * 0), ao]
    return result


f = fixture.Fixture()
colors = fixture.palette()
rows = np.concatenate([colors, colors[:, ::-1], np.roll(colors, 5, axis=1)], axis=0)
others = np.concatenate([np.roll(colors, 3, axis=1), colors, np.roll(colors[:, ::-1], 2, axis=1)], axis=0)
backdrop, source = fixture.noise(5, 4, 1, opaque=False), fixture.noise(5, 4, 2, opaque=False)
mask = fixture.noise(5, 4, 3, opaque=False)
for name, mode in MODES.items():
    f.case(f"blend.{name}", {"image": rows, "overlay": others}, composite(rows, others, mode), note="opaque colours")
    f.case(
        f"blend.{name}", {"image": backdrop, "overlay": source, "mask": mask},
        composite(backdrop, source, mode, 0.75, mask), params={"opacity": 0.75}, note="see-through, masked, opacity 3/4")

base, over = fixture.noise(5, 3, 4, opaque=False), fixture.noise(5, 3, 5, opaque=False)

# GPUImage: mix(base.rgb, overlay.rgb, overlay.a * mixturePercent), base.a
expected = base.copy()
share = over[:, :, 3:] * 0.5
expected[:, :, :3] = base[:, :, :3] * (1 - share) + over[:, :, :3] * share
f.case("blend.alpha", {"image": base, "overlay": over}, expected, params={"mix": 0.5})


def premultiplied(p):
    return np.concatenate([p[:, :, :3] * p[:, :, 3:], p[:, :, 3:]], axis=2)


def straight(p):
    a = np.where(p[:, :, 3:] > 0, p[:, :, 3:], 1)
    return np.concatenate([p[:, :, :3] / a, p[:, :, 3:]], axis=2)


expected = straight(0.75 * premultiplied(base) + 0.25 * premultiplied(over))
f.case("blend.dissolve", {"image": base, "overlay": over}, expected, params={"mix": 0.25})

base = fixture.noise(5, 3, 6)
# GPUImage's mask: the mean of the mask's channels times its alpha becomes the alpha.
expected = base.copy()
expected[:, :, 3] = over[:, :, :3].mean(axis=2) * over[:, :, 3]
f.case("blend.mask", {"image": base, "mask": over}, expected)
expected[:, :, 3] = 1 - expected[:, :, 3]
f.case("blend.mask", {"image": base, "mask": over}, expected, params={"invert": 1}, note="inverted")

# GPUImage's chroma key blend, on opaque pictures: Y'CrCb of the key, smoothstep of the distance.
front, back = rows, others
key = np.array([0.0, 1.0, 0.0])


def chroma(rgb):
    y = rgb @ np.array([0.2989, 0.5866, 0.1145])
    return np.stack([0.7132 * (rgb[..., 0] - y), 0.5647 * (rgb[..., 2] - y)], axis=-1)


d = np.linalg.norm(chroma(front[:, :, :3]) - chroma(key), axis=2)
t = np.clip((d - 0.4) / 0.1, 0, 1)
keep = (t * t * (3 - 2 * t))[:, :, None]
expected = front * keep + back * (1 - keep)
f.case("blend.chromaKeyBlend", {"image": front, "background": back}, expected)


def poisson(target, source, inside):
    """The exact discrete membrane: a sparse linear system over the pixels whose four neighbours are inside too; the others
    take the target's colour."""
    h, w = inside.shape
    padded = np.pad(inside, 1, mode="edge")
    inside = inside & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    index = {p: i for i, p in enumerate(zip(*np.nonzero(inside)))}
    a = lil_matrix((len(index), len(index)))
    b = np.zeros((len(index), 3))
    difference = target[:, :, :3] - source[:, :, :3]
    for (y, x), i in index.items():
        for yy, xx in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
            if 0 <= yy < h and 0 <= xx < w:
                a[i, i] += 1
                if inside[yy, xx]:
                    a[i, index[yy, xx]] -= 1
                else:
                    b[i] += difference[yy, xx]
    m = spsolve(csr_matrix(a), b)
    result = target.copy()
    for (y, x), i in index.items():
        result[y, x, :3] = source[y, x, :3] + m[i]
    return result


target, patch = fixture.smooth(24, 20, 7), fixture.smooth(24, 20, 8)
target[:, :, :3] = np.round((0.3 + 0.4 * target[:, :, :3]) * 256) / 256
patch[:, :, :3] = np.round((0.3 + 0.4 * patch[:, :, :3]) * 256) / 256
yy, xx = np.mgrid[0:20, 0:24]
inside = ((xx - 11.5) / 9) ** 2 + ((yy - 9.5) / 7) ** 2 < 1
patch[:, :, 3] = inside
f.case("blend.poisson", {"image": target, "overlay": patch}, poisson(target, patch, inside), within=4,
       why="the membrane is relaxed from coarse to fine, not solved")
f.write()
