"""Morphology by SciPy's grey operators on a square; edges repeat ("nearest")."""
import numpy as np
from scipy import ndimage

from fixture import Fixture, noise

f = Fixture()
small, see_through, wide = noise(9, 7, 1), noise(8, 6, 3, opaque=False), noise(23, 15, 4)
# Where nothing is, there is no colour.
see_through[see_through[:, :, 3] == 0] = 0


def operators(size):
    def dilate(p):
        return ndimage.maximum_filter(p, size, mode="nearest")

    def erode(p):
        return ndimage.minimum_filter(p, size, mode="nearest")
    return {"Dilation": dilate, "Erosion": erode, "Opening": lambda p: dilate(erode(p)), "Closing": lambda p: erode(dilate(p))}


for image, radius in ((small, 1), (see_through, 2), (wide, 4), (wide, 9)):
    for name, operator in operators(2 * radius + 1).items():
        alpha = image[:, :, 3]
        red = operator(image[:, :, 0])
        if radius > 4 and name not in ("Dilation", "Closing"):
            continue
        f.case(name.lower(), image, np.dstack([red] * 3 + [alpha]), options={"radius": radius})
        rgb = [operator(image[:, :, i]) for i in range(3)]
        f.case("rgb" + name, image, np.dstack(rgb + [alpha]), options={"radius": radius})
f.write()
