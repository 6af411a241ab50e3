"""Blurs: SciPy's Gaussian, uniform, median filters, and direct sums in double precision. Edges repeat ("nearest").

Blurs work on premultiplied colour; where a filter keeps alpha it works on straight colour.
"""
import numpy as np
from scipy import ndimage

from fixture import LUMA, Fixture, center_uv, noise, smooth

f = Fixture()
small, photo, see_through = noise(11, 9, 1), smooth(24, 18, 2), noise(10, 8, 3, opaque=False)
# Where nothing is, there is no colour.
see_through[see_through[:, :, 3] == 0] = 0
wide = noise(33, 27, 4)
shape = np.zeros((30, 40, 4))
shape[:, :, 3] = 1
shape[9:20, 14:31, :3] = [1, 0.5, 0.25]


def planes(image, function):
    return np.dstack([function(image[:, :, i]) for i in range(image.shape[2])])


def premultiplied(image, function):
    """A function of planes on premultiplied colour and alpha."""
    stored = image.copy()
    stored[:, :, :3] *= image[:, :, 3:]
    result = planes(stored, function)
    alpha = result[:, :, 3:]
    result[:, :, :3] = np.divide(result[:, :, :3], alpha, out=np.zeros_like(result[:, :, :3]), where=alpha > 1e-9)
    return result


def straight(image, function):
    return np.dstack([planes(image[:, :, :3], function), image[:, :, 3]])


def gaussian(sigma):
    return lambda p: ndimage.gaussian_filter(p, sigma, mode="nearest", truncate=6)


def at(plane, x, y):
    rows = np.clip(np.arange(plane.shape[0]) + y, 0, plane.shape[0] - 1)
    columns = np.clip(np.arange(plane.shape[1]) + x, 0, plane.shape[1] - 1)
    return plane[rows][:, columns]


def bilinear(plane, x, y):
    """plane at pixel positions x, y, centres at whole numbers."""
    return ndimage.map_coordinates(plane, [y, x], order=1, mode="nearest")


for image, sigmas in ((small, (0.6, 1.2, 2.5)), (see_through, (1.0, 3.0)), (wide, (2.7, 7.3)), (shape, (4.0, 20.0))):
    for sigma in sigmas:
        f.case("gaussianBlur", image, premultiplied(image, gaussian(sigma)), {"sigma": sigma}, within=2)
f.case("gaussianBlur", wide, premultiplied(wide, gaussian(60)), {"sigma": 60}, within=2)
red = gaussian(3.4)(wide[:, :, 0])
f.case("singleComponentGaussianBlur", wide, red, {"sigma": 3.4}, within=2)

for radius in (1, 4, 12):
    f.case("boxBlur", wide, premultiplied(wide, lambda p: ndimage.uniform_filter(p, 2 * radius + 1, mode="nearest")),
           options={"radius": radius}, within=2)
middle = np.full((56, 60, 4), 0.25)
middle[:, :, 3] = 1
middle[25:32, 27:34] = noise(7, 7, 6)
f.case("boxBlur", middle, premultiplied(middle, lambda p: ndimage.uniform_filter(p, 41, mode="nearest")),
       options={"radius": 20}, within=2)

for radius in (1, 2, 3):
    f.case("median", see_through if radius == 1 else small,
           straight(see_through if radius == 1 else small, lambda p: ndimage.median_filter(p, 2 * radius + 1, mode="nearest")),
           options={"radius": radius})
# Wider ones are medians of 8-bit codes.
for radius, picture in ((4, photo), (9, see_through), (64, small)):
    codes = np.round(picture[:, :, :3] * 255) / 255
    middle = [ndimage.median_filter(codes[:, :, c], 2 * radius + 1, mode="nearest") for c in range(3)]
    f.case("median", picture, np.dstack(middle + [picture[:, :, 3]]), options={"radius": radius})

# Sharp and blurred, mixed.
blurred = premultiplied(photo, gaussian(3))
u, v = center_uv(photo.shape[1], photo.shape[0])


def smoothstep(low, high, x):
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def mixed(a, b, weight):
    return a + (b - a) * weight[:, :, None]


away = np.hypot(u - 0.4, (v - 0.5) * photo.shape[0] / photo.shape[1])
f.case("gaussianSelectiveBlur", photo, mixed(photo, blurred, smoothstep(0.1, 0.3, away)),
       {"sigma": 3, "center": [0.4, 0.5], "radius": 0.3, "softness": 0.2}, within=2)
f.case("gaussianBlurPosition", photo, mixed(blurred, photo, smoothstep(0.15, 0.35, away)),
       {"sigma": 3, "center": [0.4, 0.5], "radius": 0.15, "softness": 0.2}, within=2)
weight = np.minimum(1, 1 - smoothstep(0.3, 0.5, v) + smoothstep(0.6, 0.8, v))
f.case("tiltShift", photo, mixed(photo, blurred, weight), {"sigma": 3, "top": 0.5, "bottom": 0.6, "falloff": 0.2}, within=2)
for image in (photo, see_through):
    soft = straight(premultiplied(image, gaussian(2)), lambda p: p)
    f.case("unsharpMask", photo, straight(photo, lambda p: gaussian(2)(p) + 1.7 * (p - gaussian(2)(p))),
           {"sigma": 2, "intensity": 1.7}, within=2) if image is photo else None
grey = photo[:, :, :3] @ LUMA
pale = photo.copy()
pale[:, :, :3] = grey[:, :, None] + 0.8 * (photo[:, :, :3] - grey[:, :, None])
pale = premultiplied(pale, gaussian(5))
luma = pale[:, :, :3] @ LUMA
pale[:, :, :3] += (0.5 - luma)[:, :, None] * 0.6
f.case("iOSBlur", photo, pale, {"sigma": 5, "saturation": 0.8, "rangeReduction": 0.6}, within=2)

# Nine taps on a line.
taps = {0: 0.18, 1: 0.15, 2: 0.12, 3: 0.09, 4: 0.05}
height, width = photo.shape[:2]
row, column = np.mgrid[0:height, 0:width].astype(float)


def line(dx, dy):
    def blur(p):
        return sum(taps[abs(i)] * bilinear(p, column + i * dx, row + i * dy) for i in range(-4, 5))
    return blur


turn = np.radians(30)
f.case("motionBlur", photo, premultiplied(photo, line(1.5 * np.cos(turn), -1.5 * np.sin(turn))),
       {"size": 1.5, "angle": 30}, within=2)
f.case("zoomBlur", photo, premultiplied(photo, line((0.3 - u) * 0.04 * width, (0.6 - v) * 0.04 * height)),
       {"size": 4, "center": [0.3, 0.6]}, within=2)

# GPUImage's bilateral, in two directions.
weights = np.array([0.05, 0.09, 0.12, 0.15, 0.18, 0.15, 0.12, 0.09, 0.05])


def bilateral(rgb, dx, dy, factor):
    total, sums = np.full(rgb.shape[:2], 0.18), 0.18 * rgb
    for i in range(-4, 5):
        if i:
            tap = np.dstack([at(rgb[:, :, c], i * dx, i * dy) for c in range(3)])
            w = weights[i + 4] * (1 - np.minimum(np.linalg.norm(tap - rgb, axis=2) * factor, 1))
            total, sums = total + w, sums + tap * w[:, :, None]
    return sums / total[:, :, None]


for image, spacing, factor in ((photo, 4, 8), (photo, 1, 3), (small, 2, 1.5)):
    rgb = bilateral(bilateral(image[:, :, :3], 0, spacing, factor), spacing, 0, factor)
    f.case("bilateral", image, np.dstack([rgb, image[:, :, 3]]), {"distance": factor}, {"spacing": spacing}, within=2)


def surface(plane, spacing, threshold):
    total, sums = np.ones(plane.shape), plane.copy()
    for y in range(-2, 3):
        for x in range(-2, 3):
            if x or y:
                tap = at(plane, x * spacing, y * spacing)
                w = np.maximum(1 - np.abs(tap - plane) / (2.5 * threshold), 0)
                total, sums = total + w, sums + w * tap
    return sums / total


f.case("surfaceBlur", photo, straight(photo, lambda p: surface(surface(p, 5, 0.2), 1, 0.2)), {"threshold": 0.2},
       {"radius": 10}, within=2)
f.case("surfaceBlur", photo, straight(photo, lambda p: surface(surface(p, 1, 0.1), 1, 0.1)), {"threshold": 0.1},
       {"radius": 2}, within=2)


def guided(sigma, epsilon):
    g = gaussian(sigma)

    def filtered(p):
        mean = g(p)
        variance = g(p * p) - mean * mean
        a = variance / (variance + epsilon)
        return g(a) * p + g(mean * (1 - a))
    return filtered


for image, sigma, epsilon in ((photo, 0.8, 0.02), (photo, 2, 0.01), (photo, 4, 0.04), (wide, 5, 0.02), (wide, 13, 0.01),
                              (wide, 40, 0.005)):
    f.case("guided", image, straight(image, guided(sigma, epsilon)), {"sigma": sigma, "epsilon": epsilon}, within=2)

# The hexagon: every point i * a + j * b, each direction 0…radius steps, two of the three directions at a time.
radius = 3


def hexagon(stored):
    def steps(angle):
        return [(int(np.floor(i * np.sin(np.radians(angle)) + 0.5)), int(np.floor(i * np.cos(np.radians(angle)) + 0.5)))
                for i in range(radius + 1)]
    up, left, right = steps(180), steps(-60), steps(60)
    points = [(a, b) for a in up for b in left] + [(a, b) for a in up for b in right[1:]]
    points += [(a, b) for a in left[1:] for b in right[1:]]
    # One direction after the other, each with the picture's edge.
    return sum(at(at(stored, *a), *b) for a, b in points) / len(points)


def linear(p):
    return np.where(p <= 0.04045, p / 12.92, ((p + 0.055) / 1.055) ** 2.4)


def encoded(p):
    return np.where(p <= 0.0031308, p * 12.92, 1.055 * np.maximum(p, 1e-9) ** (1 / 2.4) - 0.055)


dots = np.zeros((16, 20, 4))
dots[:, :, 3] = 1
dots[7, 9, :3] = [1, 0.6, 0.3]
dots[3, 15, :3] = [0.5, 1, 0.2]
for image in (dots, photo):
    light = planes(image[:, :, :3], lambda p: encoded(hexagon(linear(p))))
    f.case("lensBlur", image, np.dstack([light, image[:, :, 3]]), options={"radius": radius}, within=2)
f.write()
