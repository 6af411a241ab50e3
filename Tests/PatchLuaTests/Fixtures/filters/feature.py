"""Corners, lines and drawn shapes, by SciPy and by geometry. Edges of the picture repeat ("nearest")."""
import numpy as np
from scipy import ndimage

from fixture import LUMA, Fixture, center_uv, noise

f = Fixture()
y, x = np.mgrid[0:26, 0:34]
base = 0.15 + 0.55 * ((x > 7) & (x < 21) & (y > 6) & (y < 17)) + 0.25 * (x + 0.6 * y > 36)
random = np.random.default_rng(5)
scene = np.round(np.clip(base + 0.02 * random.random(base.shape), 0, 1) * 256) / 256
color = np.dstack([scene, np.clip(scene * 0.9, 0, 1), np.clip(scene * 0.8 + 0.1, 0, 1), np.ones(scene.shape)])
color = np.round(color * 256) / 256
luma = color[:, :, :3] @ LUMA


def peaks(strength, threshold):
    around = ndimage.maximum_filter(strength, footprint=[[1, 1, 1], [1, 0, 1], [1, 1, 1]], mode="nearest")
    found = (strength > around) & (strength >= threshold)
    # The picture must not decide by a rounding.
    assert np.abs(strength - threshold).min() > 0.003 * max(threshold, 0.1), np.abs(strength - threshold).min()
    assert ((strength - around)[found] > 0.0012 * strength[found]).all()
    near = (strength > 0.5 * threshold) & ~found
    assert not (near & (strength >= threshold) & (np.abs(strength - around) < 0.0012 * strength)).any()
    assert found.sum() >= 3
    return found * 1.0


def shown(found):
    return np.dstack([found] * 3 + [color[:, :, 3]])


across = np.array([[-1, 0, 1], [-1, 0, 1], [-1, 0, 1]])
dx = ndimage.correlate(luma, across, mode="nearest")
dy = ndimage.correlate(luma, across.T, mode="nearest")


def averaged(p, sigma):
    return ndimage.gaussian_filter(p, sigma, mode="nearest", truncate=6)


for sigma in (2.0, 1.4):
    a, b, c = (averaged(p, sigma) for p in (dx * dx, dy * dy, dx * dy))
    f.case("harris", color, shown(peaks((a * b - c * c - 0.04 * (a + b) ** 2) * 5, 0.1)), {"sigma": sigma, "threshold": 0.1})
    f.case("noble", color, shown(peaks((a * b - c * c) / (a + b) * 5, 0.4)), {"sigma": sigma, "threshold": 0.4})
    lesser = np.linalg.eigvalsh(np.stack([np.stack([a, c], -1), np.stack([c, b], -1)], -1))[..., 0]
    f.case("shiTomasi", color, shown(peaks(lesser * 2 * 1.5, 0.3)), {"sigma": sigma, "threshold": 0.3})

# FAST by its definition: the largest threshold at which nine pixels in a row are lighter, or darker, than the centre.
ring = [(0, -3), (1, -3), (2, -2), (3, -1), (3, 0), (3, 1), (2, 2), (1, 3),
        (0, 3), (-1, 3), (-2, 2), (-3, 1), (-3, 0), (-3, -1), (-2, -2), (-1, -3)]
# As the luma is stored: in half floats.
luma = luma.astype(np.float16).astype(float)
height, width = luma.shape
strength = np.zeros(luma.shape)
for row in range(height):
    for column in range(width):
        d = [luma[np.clip(row + v, 0, height - 1), np.clip(column + u, 0, width - 1)] - luma[row, column] for u, v in ring]
        runs = [[d[(i + k) % 16] for k in range(9)] for i in range(16)]
        strength[row, column] = max(max(min(run) for run in runs), max(-max(run) for run in runs))
# Of neighbours that are alike the first one counts.
padded = np.pad(strength, 1, mode="edge")
neighbours = {(v, u): padded[1 + v:1 + v + height, 1 + u:1 + u + width] for v in (-1, 0, 1) for u in (-1, 0, 1) if u or v}
before = np.max([neighbours[k] for k in neighbours if k < (0, 0)], axis=0)
after = np.max([neighbours[k] for k in neighbours if k > (0, 0)], axis=0)
found = (strength > before) & (strength >= after) & (strength >= 0.1)
gaps = np.abs(strength - np.maximum(before, after))[strength >= 0.1]
assert found.sum() >= 3 and np.abs(strength - 0.1).min() > 0.001 and not ((gaps > 0) & (gaps < 0.0008)).any()
f.case("fast", color, shown(found * 1.0), {"threshold": 0.1})

# Drawn shapes: coverage by the distance to the edge, then over the picture (premultiplied).
image = noise(21, 15, 7, opaque=False)
u, v = center_uv(21, 15)
px, py = u * 21, v * 15


def over(cover, rgb):
    alpha = cover + image[:, :, 3] * (1 - cover)
    mixed = cover[..., None] * rgb + (image[:, :, :3] * image[:, :, 3:]) * (1 - cover[..., None])
    return np.dstack([np.divide(mixed, alpha[..., None], out=np.zeros_like(mixed), where=alpha[..., None] > 0), alpha])


blue = np.array([0.25, 0.5, 1])
away = np.hypot(px - 0.4 * 21, py - 0.6 * 15)
f.case("circle", image, over(np.clip(0.3 * 15 - away + 0.5, 0, 1) * 0.75, blue),
       {"center": [0.4, 0.6], "radius": 0.3, "color": [0.25, 0.5, 1, 1], "opacity": 0.75})
start, end = np.array([0.2 * 21, 0.3 * 15]), np.array([0.8 * 21, 0.7 * 15])
way = end - start
along = np.clip(((px - start[0]) * way[0] + (py - start[1]) * way[1]) / (way @ way), 0, 1)
away = np.hypot(px - start[0] - along * way[0], py - start[1] - along * way[1])
f.case("lines", image, over(np.clip(0.2 * 15 / 2 - away + 0.5, 0, 1) * 0.5, blue),
       {"from": [0.2, 0.3], "to": [0.8, 0.7], "width": 0.2, "color": [0.25, 0.5, 1, 1], "opacity": 0.5})
marks = np.zeros((15, 21))
for row, column in ((0, 3), (7, 10), (14, 20)):
    marks[row, column] = 1
cross = np.zeros((15, 21))
for row, column in ((0, 3), (7, 10), (14, 20)):
    cross[row, max(0, column - 2):column + 3] = 1
    cross[max(0, row - 2):row + 3, column] = 1
f.case("crosshairs", {"image": image, "marks": marks}, over(cross * 0.5, blue), {"color": [0.25, 0.5, 1, 1], "opacity": 0.5},
       {"arm": 2})

# One bright bar: its two edges are lines. Canny's edge lies on the pixel of steepest change, where the sides are unlike.
bar = np.full((48, 64), 0.25)
bar[:, 20] = 0.45
bar[:, 21:40] = 0.75
bar[:, 40] = 0.65
shown_line = np.dstack([bar] * 3)
shown_line[:, [20, 40]] = [1, 0, 0]
f.case("houghLines", bar, np.dstack([shown_line, np.ones(bar.shape)]), {"threshold": 0.5})
f.write()
