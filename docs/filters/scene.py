"""Draws scene.png and overlay.png, the pictures that docs/filters shows the filters on: a face, hills, a sun, colour chips and
fine lines; and a disc with a soft alpha over a slanted gradient. `python3 scene.py` beside them."""
import numpy as np
from PIL import Image

W, H, S = 320, 180, 4
y, x = np.mgrid[0:H * S, 0:W * S] / S
picture = np.zeros((H * S, W * S, 3))


def paint(mask, color):
    mask = np.clip(mask, 0, 1)[:, :, None]
    picture[:] = picture * (1 - mask) + np.asarray(color, dtype=float) * mask


def ellipse(cx, cy, rx, ry, soft=0.5):
    return (1 - np.hypot((x - cx) / rx, (y - cy) / ry)) * min(rx, ry) / soft + 0.5


def mix(a, b, t):
    return np.asarray(a) * (1 - t[:, :, None]) + np.asarray(b) * t[:, :, None]


picture[:] = mix([0.25, 0.5, 0.85], [0.95, 0.8, 0.65], np.clip(y / 120, 0, 1))
paint(np.exp(-(np.hypot(x - 258, y - 40) / 30) ** 2) * 0.6, [1, 0.95, 0.7])
paint(ellipse(258, 40, 13, 13), [1, 0.98, 0.85])
for i, (base, height, color) in enumerate(((95, 22, [0.45, 0.55, 0.65]), (115, 18, [0.3, 0.5, 0.35]), (138, 12, [0.2, 0.38, 0.18]))):
    ridge = base + height * np.sin(x / (34 - 6 * i) + 2 * i) + 3 * np.sin(x / 7 + i)
    paint((y - ridge) + 0.5, np.array(color))
paint((y - 150 > 0) * (np.sin(x * 0.9 + y * 2.2) > 0.55) * 0.5, [0.35, 0.55, 0.2])
# A portrait: shoulders, neck, face with light from the right, hair, eyes, mouth.
paint(ellipse(105, 196, 62, 55), [0.55, 0.12, 0.15])
paint(ellipse(105, 140, 15, 30), [0.78, 0.55, 0.43])
face = ellipse(105, 92, 33, 43)
shade = np.clip((x - 72) / 66, 0, 1)
inside = np.clip(face, 0, 1)[:, :, None]
picture[:] = picture * (1 - inside) + mix([0.66, 0.43, 0.33], [0.97, 0.78, 0.65], shade) * inside
paint(np.minimum(ellipse(105, 74, 40, 44), (86 - y - 0.02 * (x - 105) ** 2) / 1.5), [0.2, 0.12, 0.08])
for cx in (92, 118):
    paint(ellipse(cx, 92, 6.5, 3.2), [0.97, 0.96, 0.94])
    paint(ellipse(cx, 92, 2.8, 2.8), [0.15, 0.25, 0.35])
    paint(ellipse(cx + 1, 91, 0.9, 0.9), [1, 1, 1])
    paint(ellipse(cx, 84, 8, 1.4), [0.25, 0.15, 0.1])
paint(ellipse(107, 103, 4, 7) * 0.35, [0.8, 0.5, 0.4])
paint(ellipse(105, 117, 11, 3.4), [0.75, 0.25, 0.27])
paint(ellipse(118, 104, 7, 5, 5) * 0.35, [0.95, 0.5, 0.45])
chips = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0.5, 0.5, 0.5], [0, 0, 0]]
for i, color in enumerate(chips):
    cx = 200 + i * 12.5
    paint((np.abs(x - cx - 6) < 5.5) * (np.abs(y - 167) < 6) * 1.0, color)
for i in range(12):
    cx = 196 + np.cumsum(np.linspace(1.5, 5, 12))[i] * 2.6
    paint((np.abs(x - cx) < 0.4 + i * 0.12) * (np.abs(y - 148) < 7) * 1.0, [0.05, 0.05, 0.05])
noise = np.random.default_rng(1).normal(0, 0.012, (H, W, 1))
small = picture.reshape(H, S, W, S, 3).mean(axis=(1, 3)) + noise
Image.fromarray(np.uint8(np.clip(small, 0, 1) * 255 + 0.5)).save("scene.png", optimize=True)

yy, xx = np.mgrid[0:H, 0:W]
t = np.clip((xx / W + yy / H) / 2, 0, 1)
color = np.array([0.95, 0.35, 0.1]) * (1 - t)[:, :, None] + np.array([0.1, 0.45, 0.95]) * t[:, :, None]
stripes = (np.sin(xx * 0.35 - yy * 0.2) > 0.6)[:, :, None]
color = np.where(stripes, color * 0.55, color)
alpha = np.clip((1 - np.hypot((xx - 215) / 85, (yy - 90) / 75)) * 6, 0, 1)
Image.fromarray(np.uint8(np.dstack([color, alpha]) * 255 + 0.5), "RGBA").save("overlay.png", optimize=True)
Image.fromarray(np.uint8(color * 255 + 0.5)).save("other.png", optimize=True)
