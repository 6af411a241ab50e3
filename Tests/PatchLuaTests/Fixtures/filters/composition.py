"""Pictures laid over others with NumPy: Porter and Duff's over on premultiplied colour."""
import cv2
import numpy as np

from fixture import Fixture, noise

f = Fixture()


def premultiplied(image):
    result = image.copy()
    result[:, :, :3] *= image[:, :, 3:]
    return result


def over(image, top, x, y, opacity=1):
    result = premultiplied(image)
    top = premultiplied(top) * opacity
    h, w = top.shape[:2]
    x0, y0, x1, y1 = max(0, x), max(0, y), min(image.shape[1], x + w), min(image.shape[0], y + h)
    part = top[y0 - y:y1 - y, x0 - x:x1 - x]
    result[y0:y1, x0:x1] = part + result[y0:y1, x0:x1] * (1 - part[:, :, 3:])
    alpha = result[:, :, 3:]
    result[:, :, :3] = np.where(alpha > 0, result[:, :, :3] / np.where(alpha > 0, alpha, 1), result[:, :, :3])
    return result


image, top = noise(13, 9, 1), noise(5, 4, 2, opaque=False)
f.case("overlay", {"image": image, "overlay": top}, over(image, top, 3, 2), {"x": 3, "y": 2})
f.case("overlay", {"image": image, "overlay": top}, over(image, top, -2, 7, 0.5), {"x": -2, "y": 7, "opacity": 0.5},
       note="over the edge")
see_through = noise(13, 9, 3, opaque=False)
f.case("overlay", {"image": see_through, "overlay": top}, over(see_through, top, 6, 4), {"x": 6, "y": 4})
solid = noise(5, 4, 4)
large = cv2.resize(solid, (10, 8), interpolation=cv2.INTER_LINEAR)
f.case("overlay", {"image": image, "overlay": solid}, over(image, large, 2, 1), {"x": 2, "y": 1, "width": 10},
       note="height in its own shape")
wide = cv2.resize(solid, (9, 3), interpolation=cv2.INTER_LINEAR)
f.case("overlay", {"image": image, "overlay": solid}, over(image, wide, 1, 5),
       {"x": 1, "y": 5, "width": 9, "height": 3})
f.write()
