"""Filters that remember: recurrences in double precision over pictures in time (30 ticks a second)."""
import os
import sys

# This file is called like a module of Python's own, which NumPy needs: let that one be found.
sys.path = [p for p in sys.path if os.path.abspath(p or ".") != os.path.dirname(os.path.abspath(__file__))]
import numpy as np  # noqa: E402
from scipy import ndimage  # noqa: E402

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from fixture import LUMA, Fixture, noise  # noqa: E402

f = Fixture()
pictures = [noise(6, 5, seed) for seed in range(4)]
still = noise(7, 6, 20)
random = np.random.default_rng(3)
noisy = [np.clip(np.round((still + np.append(np.zeros(0), 0.02) * (random.random(still.shape) - 0.5)) * 256) / 256, 0, 1)
         for _ in range(4)]
for p in noisy:
    p[:, :, 3] = 1


def rgb(image):
    return image[:, :, :3]


low = rgb(pictures[0])
for p in pictures[1:]:
    low = 0.6 * low + 0.4 * rgb(p)
f.case("lowPass", {"image": pictures}, low, {"strength": 0.6}, within=2)
f.case("highPass", {"image": pictures}, np.abs(rgb(pictures[-1]) - low), {"strength": 0.6}, within=2)
f.case("highPass", {"image": pictures[0]}, np.zeros(low.shape), note="the first picture")

held = rgb(pictures[0])
for p in pictures[1:]:
    held = np.maximum(rgb(p), 0.8 * held)
f.case("echo", {"image": pictures}, held, {"decay": 0.8}, within=2)

held = rgb(pictures[0])
for p in pictures[1:]:
    held = 0.75 * held + 0.25 * rgb(p)
f.case("freeze", {"image": pictures}, held, {"hold": 0.75}, within=2)
f.case("freeze", {"image": pictures}, rgb(pictures[0]), {"hold": 1})

f.case("frameDelay", {"image": pictures}, rgb(pictures[2]), options={"frames": 1})
f.case("frameDelay", {"image": pictures}, rgb(pictures[0]), options={"frames": 3})
f.case("frameDelay", {"image": pictures[:2]}, rgb(pictures[0]), options={"frames": 3}, note="not so many pictures yet")


def smoothstep(low, high, v):
    t = np.clip((v - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


for sequence in (noisy, pictures[:3]):
    result = rgb(sequence[0])
    for p in sequence[1:]:
        difference = np.abs(rgb(p) - result).max(axis=2)
        difference = ndimage.uniform_filter(difference, 3, mode="nearest")
        keep = 0.75 * (1 - smoothstep(0.05, 0.1, difference))
        result = rgb(p) + keep[..., None] * (result - rgb(p))
    f.case("temporalDenoise", {"image": sequence}, result, {"strength": 0.75, "threshold": 0.1}, within=2)

first, second = np.full((6, 8), 0.25), np.full((6, 8), 0.25)
second[1:3, 5:8] = 0.75
moving = second == 0.75
tinted = np.dstack([second] * 3)
tinted[moving] = 0.5 * tinted[moving] + 0.5 * np.array([1, 0.2, 0])
f.case("motionDetector", {"image": [first, second]}, tinted, {"strength": 0.5, "threshold": 0.2, "show": 0.5})
f.write()
