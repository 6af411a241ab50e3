"""Geometry: where each result pixel reads is worked out anew (OpenCV's perspective matrices, SciPy's interpolation, GPUImage's
published formulas); reading is SciPy's map_coordinates on premultiplied values."""
import cv2
import numpy as np
from scipy.ndimage import map_coordinates

import fixture

W, H = 12, 8
f = fixture.Fixture()
image = fixture.smooth(W, H, 41)
holes = fixture.smooth(W, H, 42)
holes[:, :, 3] = fixture.noise(W, H, 43, opaque=False)[:, :, 3]
sharp = fixture.noise(W, H, 44)


def pre(p):
    return np.concatenate([p[:, :, :3] * p[:, :, 3:], p[:, :, 3:]], axis=2)


def post(p):
    a = np.where(p[:, :, 3:] > 1e-6, p[:, :, 3:], 1)
    return np.concatenate([p[:, :, :3] / a, p[:, :, 3:]], axis=2)


def read(picture, u, v, edge="nearest"):
    """Bilinear at uv; edge: nearest, reflect, or zero (nothing outside: weights of outside pixels count as 0)."""
    p = pre(picture)
    h, w = p.shape[:2]
    if edge == "zero":
        p = np.pad(p, ((2, 2), (2, 2), (0, 0)))
        where = [np.clip(v * h - 0.5 + 2, 0, h + 3), np.clip(u * w - 0.5 + 2, 0, w + 3)]
    else:
        where = [v * h - 0.5, u * w - 0.5]
    return np.stack([map_coordinates(p[:, :, c], where, order=1, mode="nearest" if edge == "zero" else edge)
                     for c in range(4)], axis=2)


u, v = fixture.center_uv(W, H)
shape = np.array([W / H, 1])


def pixels(points):
    """uv to pixel coordinates for OpenCV."""
    return np.float64(points) * np.array([W, H])


def mapped(matrix):
    """uv that each result pixel reads, for a matrix that maps source pixels to result pixels."""
    p = np.stack([u * W, v * H, np.ones_like(u)], axis=2) @ np.linalg.inv(matrix).T
    return p[:, :, 0] / p[:, :, 2] / W, p[:, :, 1] / p[:, :, 2] / H


# mirror, crop, zoom, resize
f.case("mirror", sharp, sharp[:, ::-1])
f.case("mirror", holes, holes[::-1, :], params={"horizontal": 0, "vertical": 1}, note="top and bottom")
f.case("mirror", holes, holes[::-1, ::-1], params={"vertical": 1}, note="both")
f.case("crop", sharp, sharp[2:6, 3:9], params={"x": 3 / W, "y": 2 / H, "width": 6 / W, "height": 4 / H},
       options={"size": "6x4"}, note="whole pixels")
cu, cv = fixture.center_uv(6, 4)
su, sv = np.clip(0.25 + cu * 0.5, 0.25 + 0.5 / W, 0.75 - 0.5 / W), np.clip(0.25 + cv * 0.5, 0.25 + 0.5 / H, 0.75 - 0.5 / H)
f.case("crop", image, post(read(image, su, sv)), params={"x": 0.25, "y": 0.25, "width": 0.5, "height": 0.5},
       options={"size": "6x4"})
f.case("zoom", image, post(read(image, 0.5 + (u - 0.5) / 1.5, 0.5 + (v - 0.5) / 1.5)), params={"factor": 1.5}, within=2)
f.case("zoom", image, post(read(image, 0.25 + (u - 0.5) / 2, 0.6 + (v - 0.5) / 2)),
       params={"factor": 2, "center": [0.1, 0.6]}, within=2, note="held at the left edge")
big, other = fixture.center_uv(20, 5)
f.case("resize", image, post(read(image, big, other)), options={"size": "20x5"}, within=2)

f.case("resize", image, (image[0::2, 0::2] + image[1::2, 0::2] + image[0::2, 1::2]
       + image[1::2, 1::2]) / 4, options={"size": "6x4"}, note="halved: the mean of each 2 x 2 pixels")
f.case("resize", image, image.reshape(2, 4, 3, 4, 4).mean(axis=(1, 3)), options={"size": "3x2"}, note="quartered")
f.case("resize", sharp, np.repeat(np.repeat(sharp, 2, axis=0), 2, axis=1)[:, 1::3], note="nearest",
       options={"size": "8x16", "method": "nearest"})


def kernel_read(picture, w, h, weight, reach):
    """Separable, by a weight function on an axis; weights divided by their sum; edges repeated."""
    def matrix(new, old):
        m = np.zeros((new, old))
        for i in range(new):
            at = (i + 0.5) / new * old - 0.5
            taps = range(int(np.floor(at)) - reach + 1, int(np.floor(at)) + reach + 1)
            weights = np.array([weight(at - t) for t in taps])
            for t, share in zip(taps, weights / weights.sum()):
                m[i, min(old - 1, max(0, t))] += share
        return m

    return np.einsum("yh,xw,hwc->yxc", matrix(h, picture.shape[0]), matrix(w, picture.shape[1]), pre(picture))


def catmull_rom(x):
    x = abs(x)
    return 1.5 * x ** 3 - 2.5 * x ** 2 + 1 if x < 1 else -0.5 * x ** 3 + 2.5 * x ** 2 - 4 * x + 2 if x < 2 else 0


def lanczos(x):
    return np.sinc(x) * np.sinc(x / 3) if abs(x) < 3 else 0


for method, weight, reach in (("bicubic", catmull_rom, 2), ("lanczos", lanczos, 3)):
    f.case("resize", image, post(kernel_read(image, 20, 11, weight, reach)), within=2, note=method,
           options={"size": "20x11", "method": method})

# transform: composed as matrices on points in heights around the anchor.
anchor = np.array([0.25, 0.5])


def around(matrix, move):
    """A matrix in heights about the anchor, then a move in uv, as a matrix on pixels."""
    scale = np.diag([H, H, 1.0])
    to = np.eye(3)
    to[:2, 2] = -anchor * shape
    back = np.eye(3)
    back[:2, 2] = (anchor + move) * shape
    return scale @ back @ matrix @ to @ np.linalg.inv(scale)


a = np.radians(25)
turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
stretch = np.diag([1.25, 0.8, 1])
skew = np.array([[1, 0.3, 0], [0, 1, 0], [0, 0, 1]])
move = np.array([0.1, -0.05])
mu, mv = mapped(around(turn @ stretch @ skew, move))
f.case("transform", image, post(read(image, mu, mv, "zero")), within=2, note="affine",
       params={"translate": move, "scale": [1.25, 0.8], "rotation": 25, "shear": [0.3, 0], "anchor": anchor})
# A card tilted by 40 degrees about the upright axis: its corners seen from 2 heights away.
anchor = np.array([0.5, 0.5])
for tilt in ([0, 40], [30, 0], [20, -35]):
    tx, ty = np.radians(tilt)
    about_x = np.array([[1, 0, 0], [0, np.cos(tx), -np.sin(tx)], [0, np.sin(tx), np.cos(tx)]])
    about_y = np.array([[np.cos(ty), 0, np.sin(ty)], [0, 1, 0], [-np.sin(ty), 0, np.cos(ty)]])
    quad = []
    for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)):
        point = about_y @ about_x @ np.array([(x - 0.5) * W / H, y - 0.5, 0])
        quad.append(point[:2] * 2 / (2 - point[2]) / shape + 0.5)
    matrix = cv2.getPerspectiveTransform(
        np.float32(pixels([[0, 0], [1, 0], [1, 1], [0, 1]])), np.float32(pixels(quad)))
    mu, mv = mapped(matrix)
    f.case("transform", image, post(read(image, mu, mv, "zero")), params={"tilt": tilt}, within=2, note=f"tilt {tilt}")

corners = np.array([[0.1, 0.2], [0.95, 0.05], [0.8, 0.9], [0.2, 1.1]])
matrix = cv2.getPerspectiveTransform(np.float32(pixels([[0, 0], [1, 0], [1, 1], [0, 1]])), np.float32(pixels(corners)))
mu, mv = mapped(matrix)
f.case("cornerPin", image, post(read(image, mu, mv, "zero")), within=2,
       params=dict(zip(["topLeft", "topRight", "bottomRight", "bottomLeft"], corners)))

# rotate: OpenCV's matrix turns against the clock for positive angles.
for angle, fill in ((30, 0), (30, 1)):
    zoom = 1
    if fill:
        s, k = np.sin(np.radians(30)), np.cos(np.radians(30))
        zoom = max((W * k + H * s) / W, (W * s + H * k) / H)
    matrix = np.vstack([cv2.getRotationMatrix2D((W / 2, H / 2), -angle, zoom), [0, 0, 1]])
    mu, mv = mapped(matrix)
    f.case("rotate", image, post(read(image, mu, mv, "zero")), params={"angle": angle, "fill": fill}, within=2,
           note="filled" if fill else "")


def area(picture, place, across, down, edge="nearest"):
    """Two reads on each axis: none apart at the same size, half a source pixel either way when two are covered."""
    def apart(covered):
        return 0 if covered <= 1 else (covered - 1) / 2 if covered <= 2 else covered / 4

    dx, dy = apart(across * W) / W, apart(down * H) / H
    return sum(read(picture, place[0] + sx * dx, place[1] + sy * dy, edge) for sx in (-1, 1) for sy in (-1, 1)) / 4


color = np.array([0.25, 0.5, 0, 0.5])
bars = np.array([0.125, 0.25, 0, 0.5])


# Exactly halved, the mean of 2 x 2 pixels; exactly quartered, of 4 x 4.
half = (image[0::2, 0::2] + image[1::2, 0::2] + image[0::2, 1::2] + image[1::2, 1::2]) / 4
f.case("fill", image, half, options={"size": "6x4"}, note="halved")
quarter = image.reshape(2, 4, 3, 4, 4).mean(axis=(1, 3))
f.case("fill", image, quarter, options={"size": "3x2"}, note="quartered")


def placed(picture, w, h, x0, y0, x1, y1):
    """The picture in a rectangle (uv) of a w by h frame; bars elsewhere."""
    fu, fv = fixture.center_uv(w, h)
    pu, pv = (fu - x0) / (x1 - x0), (fv - y0) / (y1 - y0)
    seen = area(picture, (pu, pv), 1 / w / (x1 - x0), 1 / h / (y1 - y0))
    inside = (pu >= 0) & (pu <= 1) & (pv >= 0) & (pv <= 1)
    return post(np.where(inside[:, :, None], seen, bars))


f.case("pad", image, placed(image, W, H, 0.25, 0.125, 0.875, 1), within=2,
       params={"left": 0.25, "top": 0.125, "right": 0.125, "color": color})
f.case("fit", image, placed(image, 12, 12, 0, 1 / 6, 1, 5 / 6), params={"color": color}, options={"size": "12x12"},
       within=2)
f.case("fit", image, placed(image, 12, 4, 0.25, 0, 0.75, 1), params={"color": color}, options={"size": "12x4"}, within=2)
f.case("fill", image, placed(image, 6, 6, -0.25, 0, 1.25, 1), options={"size": "6x6"}, within=2)
f.case("fill", image, placed(image, 12, 4, 0, -0.5, 1, 1.5), options={"size": "12x4"}, within=2)


# Distortions: GPUImage's, with its aspect correction (distances in widths).
def polar(center, unit=W):
    x, y = (u - center[0]) * W / unit, (v - center[1]) * H / unit
    return x, y, np.hypot(x, y)


def distort(name, du, dv, params, edge="nearest", note="", where=None, picture=image):
    result = read(picture, du, dv, edge)
    if where is not None:
        result = np.where(where[:, :, None], result, 0)
    f.case(name, picture, post(result), params=params, within=2, note=note)


center = np.array([0.4, 0.55])
x, y, r = polar(center)
percent = np.maximum((0.5 - r) / 0.5, 0)
theta = percent * percent * 0.4 * 8
distort("swirl", (x * np.cos(theta) - y * np.sin(theta)) + center[0],
        (x * np.sin(theta) + y * np.cos(theta)) * W / H + center[1], {"angle": 0.4, "center": center})
for scale in (0.5, -0.5):
    percent = np.where(r < 0.4, (1 - (0.4 - r) / 0.4 * scale) ** 2, 1)
    distort("bulge", x * percent + center[0], y * percent * W / H + center[1],
            {"scale": scale, "radius": 0.4, "center": center})
percent = np.where(r < 0.45, 1 + (0.5 - r) / 0.5 * 0.5, 1)
distort("pinch", x * percent + center[0], y * percent * W / H + center[1],
        {"scale": 0.5, "radius": 0.45, "center": center})


def smoothstep(low, high, t):
    t = np.clip((t - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


n = [2 * (u - center[0]), 2 * (v - center[1])]
n = [np.sign(t) * (0.5 * abs(t) + 0.5 * smoothstep(0.25, 0.5, abs(t)) * abs(t)) for t in n]
distort("stretch", n[0] / 2 + center[0], n[1] / 2 + center[1], {"center": center})


def refract(normal, index):
    """GLSL's refract of the ray (0, 0, -1)."""
    ray = np.array([0, 0, -1.0])
    d = normal @ ray
    k = 1 - index * index * (1 - d * d)
    return np.where((k < 0)[:, :, None], 0, index * ray - (index * d + np.sqrt(np.maximum(k, 0)))[:, :, None] * normal)


radius = 0.35
inside = r <= radius
z = radius * np.sqrt(np.maximum(1 - (r / radius) ** 2, 0))
normal = np.stack([x, y, z], axis=2)
normal /= np.maximum(np.linalg.norm(normal, axis=2, keepdims=True), 1e-9)
bent = refract(normal, 0.71)
distort("sphereRefraction", (bent[:, :, 0] + 1) / 2, (bent[:, :, 1] + 1) / 2, {"radius": radius, "center": center},
        where=inside)
bent = -2 * bent
seen = read(image, (bent[:, :, 0] + 1) / 2, (bent[:, :, 1] + 1) / 2)
seen[:, :, :3] += (2.5 * (1 - np.clip(normal[:, :, 2], 0, 1) ** 0.25))[:, :, None]
lamp = np.array([-0.5, -0.5, 1]) / np.linalg.norm([-0.5, -0.5, 1])
seen[:, :, :3] += (0.8 * np.clip(normal @ lamp, 0, 1) ** 15)[:, :, None]
seen[:, :, :3] = np.clip(seen[:, :, :3], 0, 1)
f.case("glassSphere", image, np.where(inside[:, :, None], seen, 0), params={"radius": radius, "center": center}, within=2)

center = np.array([0.5, 0.5])
x, y, r = polar(center, unit=np.hypot(W, H) / 2)
theta = np.radians(0.6 * 80)
factor = np.tan(r * theta) / np.tan(theta) / r
distort("fisheye", (u - 0.5) * factor + 0.5, (v - 0.5) * factor + 0.5, {"amount": 0.6})
factor = (1 + 0.2 * (r / 1.25) ** 2 - 0.1 * (r / 1.25) ** 4) / 1.25
distort("lensCorrection", (u - 0.5) * factor + 0.5, (v - 0.5) * factor + 0.5, {"k1": 0.2, "k2": -0.1, "zoom": 1.25},
        edge="zero")

# Kaleidoscope with 3 pairs: sector 0 at angles 0…60 degrees, mirrored into the next one, and so on.
x, y, r = polar(center, unit=H)
degrees = (np.degrees(np.arctan2(y, x)) + 360) % 360
fold = np.abs((degrees / 120) % 1 - 0.5) * 120
at = np.radians(fold + 15)
distort("kaleidoscope", r * np.cos(at) * H / W + 0.5, r * np.sin(at) + 0.5, {"segments": 3, "angle": 15}, edge="reflect")

push = fixture.noise(W, H, 45)
f.case("displacement", {"image": image, "map": push},
       post(read(image, u + (2 * push[:, :, 0] - 1) * 0.2, v + (2 * push[:, :, 1] - 1) * 0.1)),
       params={"amount": [0.2, 0.1]}, within=2)
f.write()
