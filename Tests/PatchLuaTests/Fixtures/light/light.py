"""Filters that weigh colours, in a graph that wants light to be weighed: expected pixels by NumPy, with sRGB's curve
(IEC 61966-2-1). `python3 light.py` writes light.txt; the format is that of the filters' fixtures.

A mask and a map are weights, not colours: their codes count. A blend whose formula means codes gives what it always gives.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "..", "filters"))
import fixture
from fixture import Fixture

f = Fixture()


def to_light(v):
    return np.where(v <= 0.04045, v / 12.92, ((np.maximum(v, 0.04) + 0.055) / 1.055) ** 2.4)


def from_light(v):
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * np.maximum(v, 0.003) ** (1 / 2.4) - 0.055)


def light(straight):
    """Premultiplied light of a straight picture."""
    alpha = straight[..., 3:]
    return np.concatenate([to_light(straight[..., :3]) * alpha, alpha], axis=2)


def codes(premultiplied):
    """The straight picture of premultiplied light."""
    alpha = premultiplied[..., 3:]
    rgb = from_light(premultiplied[..., :3] / np.where(alpha > 0, alpha, 1))
    return np.concatenate([np.where(alpha > 0, rgb, 0), alpha], axis=2)


def over(below, above):
    return above + below * (1 - above[..., 3:])


image, overlay = fixture.noise(7, 5, 1, opaque=False), fixture.noise(7, 5, 2, opaque=False)
mask = fixture.noise(7, 5, 3)
shares = (mask[..., :3] @ [0.2126, 0.7152, 0.0722])[..., None]
both = {"image": image, "overlay": overlay}
for name in ("blend.normal", "blend.sourceOver"):
    f.case(name, both, codes(over(light(image), light(overlay) * 0.6)), {"opacity": 0.6})
    f.case(name, both | {"mask": mask}, codes(over(light(image), light(overlay) * shares)), note="a mask counts by its codes")

share = overlay[..., 3:] * 0.7
rgb = from_light(to_light(image[..., :3]) * (1 - share) + to_light(overlay[..., :3]) * share)
f.case("blend.alpha", both, np.concatenate([rgb, image[..., 3:]], axis=2), {"mix": 0.7})
f.case("blend.dissolve", both, codes(light(image) * 0.7 + light(overlay) * 0.3), {"mix": 0.3})

small = fixture.noise(3, 2, 4, opaque=False)
expected = light(image)
expected[2:4, 3:6] = over(expected[2:4, 3:6], light(small) * 0.5)
f.case("overlay", {"image": image, "overlay": small}, codes(expected), {"x": 3, "y": 2, "opacity": 0.5})

# Enlarged to twice its width: what is read between two pixels is a mean of light.
wide = np.zeros((2, 6, 4))
for x in range(6):
    place = np.clip((x + 0.5) / 2 - 0.5, 0, 2)
    left = min(int(place), 1)
    wide[:, x] = light(small)[:, left] * (1 - place + left) + light(small)[:, left + 1] * (place - left)
expected = light(image)
expected[1:3, :6] = over(expected[1:3, :6], wide)
f.case("overlay", {"image": image, "overlay": small}, codes(expected), {"y": 1, "width": 6, "height": 2}, note="between pixels")

f.case("transition.fade", {"from": image, "to": overlay}, codes(light(image) * 0.25 + light(overlay) * 0.75), {"progress": 0.75})
# With softness 1 a place that the front reaches at `when` is (2 progress - when) there.
there = np.clip(2 * 0.6 - shares, 0, 1)
f.case("transition.lumaWipe", {"from": image, "to": overlay, "map": mask}, codes(light(image) * (1 - there) + light(overlay) * there),
       {"progress": 0.6, "softness": 1})

solid = fixture.noise(7, 5, 5), fixture.noise(7, 5, 6)
f.case("blend.multiply", {"image": solid[0], "overlay": solid[1]}, solid[0] * solid[1], note="codes, as ever")
f.case("brightness", solid[0], np.concatenate([solid[0][..., :3] + 0.1, solid[0][..., 3:]], axis=2), {"brightness": 0.1})
f.write()
