"""Edges and 3x3 operators: expected pixels by SciPy's ndimage. Edges of the picture repeat ("nearest")."""
import numpy as np
from scipy import ndimage

import fixture
from fixture import LUMA, Fixture, noise, smooth

f = Fixture()
small, photo, see_through = noise(9, 7, 1), smooth(12, 9, 2), noise(6, 5, 3, opaque=False)
# Where nothing is, there is no colour.
see_through[see_through[:, :, 3] == 0] = 0


def correlate(plane, matrix):
    return ndimage.correlate(plane, np.array(matrix, dtype=float), mode="nearest")


def each(image, function):
    """A function of planes on red, green and blue; alpha stays."""
    return np.dstack([function(image[:, :, i]) for i in range(3)] + [image[:, :, 3]])


def grey(values, image):
    return np.dstack([values] * 3 + [image[:, :, 3]])


def luma(image):
    return image[:, :, :3] @ LUMA


def slopes(plane, middle):
    """Right minus left and lower minus upper, three pixels each."""
    across = np.array([[-1, 0, 1], [-middle, 0, middle], [-1, 0, 1]])
    return correlate(plane, across), correlate(plane, across.T)


def sure(values, threshold, margin=0.01):
    """The picture must not decide by a rounding."""
    assert (np.abs(np.asarray(values) - threshold) > margin).all(), np.abs(values - threshold).min()


for image in (small, see_through):
    f.case("sharpen", image, each(image, lambda p: correlate(p, [[0, -0.7, 0], [-0.7, 3.8, -0.7], [0, -0.7, 0]])),
           {"sharpness": 0.7}, within=2)
    matrix = [[0.5, -1, 0.25], [1, 2, -0.75], [-0.5, 0, 0.125]]
    f.case("convolution3x3", image, each(image, lambda p: correlate(p, matrix) + 0.1),
           {"top": matrix[0], "middle": matrix[1], "bottom": matrix[2], "bias": 0.1}, within=2)
    f.case("emboss", image, each(image, lambda p: correlate(p, [[-3, -1.5, 0], [-1.5, 1, 1.5], [0, 1.5, 3]])),
           {"intensity": 1.5}, within=2)
    f.case("laplacian", image, each(image, lambda p: correlate(p, [[0.5, 1, 0.5], [1, -6, 1], [0.5, 1, 0.5]]) + 0.5),
           within=2)
    for name, middle in (("sobel", 2), ("prewitt", 1)):
        gx, gy = slopes(luma(image), middle)
        f.case(name, image, grey(np.hypot(gx, gy) * 0.8, image), {"edgeStrength": 0.8}, within=2)

strength = np.hypot(*slopes(luma(photo), 2)) * 0.5
threshold = (np.sort(np.ravel(strength))[50] + np.sort(np.ravel(strength))[51]) / 2
sure(strength, threshold, 0.002)
f.case("thresholdEdge", photo, grey((strength >= threshold) * 1.0, photo),
       {"edgeStrength": 0.5, "threshold": threshold})
for threshold in (0.0, 1.0):
    values = np.hypot(*slopes(luma(small), 2))
    sure(values, threshold, 0.0005)
    f.case("thresholdEdge", small, grey((values >= threshold) * 1.0, small), {"threshold": threshold})

# The direction: angle of the gradient in eighths of a turn, to the nearest; written by the angle, not by rounding sines.
gx, gy = slopes(photo[:, :, 0], 2)
eighth = np.arctan2(gy, gx) / (np.pi / 4)
sure(np.abs(eighth - np.round(eighth)), 0.5, 0.0003)
turn = np.round(eighth) * (np.pi / 4)
direction = [np.round(np.cos(turn)), np.round(np.sin(turn))]
directional = np.dstack([np.hypot(gx, gy), direction[0] / 2 + 0.5, direction[1] / 2 + 0.5, np.ones(gx.shape)])
f.case("directionalSobel", photo, directional, within=2)


def at(plane, x, y):
    rows = np.clip(np.arange(plane.shape[0]) + y, 0, plane.shape[0] - 1)
    columns = np.clip(np.arange(plane.shape[1]) + x, 0, plane.shape[1] - 1)
    return plane[rows][:, columns]


def thinned(strength, dx, dy, lower, upper):
    kept = np.zeros(strength.shape)
    for y in range(strength.shape[0]):
        for x in range(strength.shape[1]):
            here = strength[y, x]
            neighbours = [strength[np.clip(y + s * int(dy[y, x]), 0, strength.shape[0] - 1),
                                   np.clip(x + s * int(dx[y, x]), 0, strength.shape[1] - 1)] for s in (-1, 1)]
            if here >= max(neighbours):
                t = np.clip((here - lower) / (upper - lower), 0, 1)
                kept[y, x] = t * t * (3 - 2 * t)
    return kept


random = np.random.default_rng(7)
strength = random.permutation(63).reshape(7, 9) / 64
dx, dy = random.integers(-1, 2, (7, 9)), random.integers(-1, 2, (7, 9))
map_ = np.dstack([strength, dx / 2 + 0.5, dy / 2 + 0.5])
f.case("nonMaximumSuppression", map_, thinned(strength, dx, dy, 0.2, 0.9),
       {"lowerThreshold": 0.2, "upperThreshold": 0.9}, within=2)

weak = random.choice([0, 0, 1 / 128, 0.25, 0.5, 1], (7, 9))
near = correlate(weak, np.ones((3, 3)))
sure(near, 1.5, 0.004) if not (near == 1.5).any() else None
f.case("weakPixelInclusion", weak, ((near >= 1.5) & (weak >= 0.01)) * 1.0)

for image in (small, see_through):
    gx, gy = (0.6 * g for g in slopes(luma(image), 1))
    f.case("xyDerivative", image, np.dstack([gx * gx, gy * gy, (gx * gy + 1) / 2, image[:, :, 3]]),
           {"edgeStrength": 0.6}, within=2)

ring = [(1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0)]


def pattern(plane):
    return sum((at(plane, x, y) >= plane) * 2.0 ** bit for bit, (x, y) in enumerate(ring)) / 255


f.case("localBinaryPattern", small, grey(pattern(small[:, :, 0]), small))
f.case("colorLocalBinaryPattern", small, each(small, pattern))

for image, radius, offset in ((photo, 4, 0.05), (small, 1, -0.02)):
    mean = ndimage.uniform_filter(luma(image), 2 * radius + 1, mode="nearest")
    sure(luma(image) - mean + offset, 0, 0.0004)
    f.case("adaptiveThreshold", image, grey((luma(image) >= mean - offset) * 1.0, image), {"offset": offset},
           {"radius": radius})

# Canny: the stages above, one after the other, in double precision.
y, x = np.mgrid[0:18, 0:26]
shapes = 0.15 + 0.6 * (np.hypot(x - 8.3, y - 9.1) < 6.2) + 0.2 * (0.7 * x - y > 6.4)
canny = fixture.picture(np.round(np.clip(shapes + 0.06 * random.random((18, 26)), 0, 1) * 256) / 256)
sigma = 1.5
taps = np.exp(-np.arange(-4, 5) ** 2 / (2 * sigma ** 2))
taps /= taps.sum()
blurred = ndimage.correlate1d(ndimage.correlate1d(luma(canny), taps, 0, mode="nearest"), taps, 1, mode="nearest")
gx, gy = slopes(blurred, 2)
magnitude = np.hypot(gx, gy)
turn = np.round(np.arctan2(gy, gx) / (np.pi / 4)) * (np.pi / 4)
strong = thinned(magnitude, np.round(np.cos(turn)), np.round(np.sin(turn)), 0.1, 0.4)
near = correlate(strong, np.ones((3, 3)))
sure(near[strong > 0], 1.5, 0.003)
sure(strong[strong > 0], 0.01, 0.001)
f.case("canny", canny, ((near >= 1.5) & (strong >= 0.01)) * 1.0, {"sigma": sigma})
f.write()
