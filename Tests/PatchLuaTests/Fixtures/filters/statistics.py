"""Histograms and means with NumPy; CLAHE written from Zuiderveld's description."""
import numpy as np

from fixture import LUMA, Fixture, center_uv, noise, smooth

f = Fixture()


def bytes_of(image):
    """As the planner hands it to the operators: 8 bits, premultiplied."""
    return np.round(np.clip(image[:, :, :3] * image[:, :, 3:], 0, 1) * 255).astype(int)


photo = np.round(smooth(64, 40, 3) * 255) / 255
dark = photo.copy()
dark[:, :, :3] = np.round(photo[:, :, :3] ** 2 * 0.4 * 255) / 255
opaque, see_through = np.round(noise(12, 9, 1) * 255) / 255, noise(8, 6, 2, opaque=False)

for image in (opaque, see_through):
    stored = image.copy()
    stored[:, :, :3] *= image[:, :, 3:]
    mean = stored.reshape(-1, 4).mean(axis=0)
    whole = np.empty(image.shape)
    whole[:] = np.append(mean[:3] / mean[3], mean[3])
    f.case("averageColor", image, whole, within=2)
    f.case("averageLuminance", image, np.full(image.shape[:2], mean[:3] @ LUMA / mean[3]), within=2)

# The histogram, drawn: the column at u shows value floor(256 u), filled up to its share of the greatest count.
counts = np.stack([np.bincount(bytes_of(dark)[:, :, i].ravel(), minlength=256) for i in range(3)])
u, v = center_uv(64, 40)
value = np.floor(u * 256).astype(int)
level = 1 - v
rgb = np.dstack([(counts[i] / counts.max())[value] >= level for i in range(3)]) * 1.0
f.case("histogram", dark, rgb, note="64 columns, one value in four")
f.case("histogram", dark, np.dstack([rgb[:, :, 0] * 1.0, rgb[:, :, 0] * 0, rgb[:, :, 0] * 0]), options={"channels": "red"})


def equalized(values):
    count = np.cumsum(np.bincount(values.ravel(), minlength=256))
    least = count[count > 0][0]
    return np.maximum(count - least, 0) / (values.size - least)


codes = bytes_of(dark)
out = np.dstack([equalized(codes[:, :, i])[codes[:, :, i]] for i in range(3)])
f.case("histogramEqualization", dark, out, options={"channels": "rgb"}, within=2)
luma_codes = (13926 * codes[:, :, 0] + 46885 * codes[:, :, 1] + 4725 * codes[:, :, 2] + 32768) >> 16
luma = dark[:, :, :3] @ LUMA
curve = equalized(luma_codes)
spread = np.interp(luma * 255, np.arange(256), curve)
f.case("histogramEqualization", dark, dark[:, :, :3] + (spread - luma)[..., None], within=2)

# CLAHE: 8x8 tiles.
height, width = luma.shape
limit = 3
curves = np.zeros((8, 8, 256))
for ty in range(8):
    for tx in range(8):
        tile = luma_codes[height * ty // 8:height * (ty + 1) // 8, width * tx // 8:width * (tx + 1) // 8]
        histogram = np.bincount(tile.ravel(), minlength=256).astype(float)
        most = limit * tile.size / 256
        cut = np.maximum(histogram - most, 0).sum()
        curves[ty, tx] = np.cumsum(np.minimum(histogram, most) + cut / 256) / tile.size
out = np.zeros(luma.shape)
for y in range(height):
    for x in range(width):
        px, py = (x + 0.5) / width * 8 - 0.5, (y + 0.5) / height * 8 - 0.5
        x0, y0 = int(np.floor(px)), int(np.floor(py))
        index = int(np.floor(luma[y, x] * 255 + 0.5))
        for dy, wy in ((0, 1 - (py - y0)), (1, py - y0)):
            for dx, wx in ((0, 1 - (px - x0)), (1, px - x0)):
                out[y, x] += wx * wy * curves[np.clip(y0 + dy, 0, 7), np.clip(x0 + dx, 0, 7), index]
f.case("clahe", dark, dark[:, :, :3] + (out - luma)[..., None], {"clipLimit": 3}, within=4,
       why="a rounding of the luma may pick the next of 256 curve values, which are up to (3 + 1) / 256 apart")

mean = bytes_of(opaque).reshape(-1, 3).mean(axis=0) / 255 @ LUMA
grey = opaque[:, :, :3] @ LUMA
assert np.abs(grey - 0.9 * mean).min() > 0.001
f.case("averageLuminanceThreshold", opaque, (grey >= 0.9 * mean) * 1.0, {"multiplier": 0.9})
f.write()
