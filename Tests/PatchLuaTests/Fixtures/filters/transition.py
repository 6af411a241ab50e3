"""Transitions: the front's arrival time is worked out anew for each pixel; moving pictures are read with SciPy."""
import numpy as np
from scipy.ndimage import map_coordinates

import fixture

W, H = 8, 6
u, v = fixture.center_uv(W, H)
old, new = fixture.noise(W, H, 11, opaque=False), fixture.noise(W, H, 12, opaque=False)


def pre(p):
    return np.concatenate([p[:, :, :3] * p[:, :, 3:], p[:, :, 3:]], axis=2)


def post(p):
    a = np.where(p[:, :, 3:] > 1e-9, p[:, :, 3:], 1)
    return np.concatenate([p[:, :, :3] / a, p[:, :, 3:]], axis=2)


A, B = pre(old), pre(new)


def lerp(weight):
    weight = np.broadcast_to(np.asarray(weight, dtype=float), (H, W))[:, :, None]
    return post(A * (1 - weight) + B * weight)


def read(p, uu, vv, mode="nearest"):
    """Bilinear, at uv; beyond the edge its pixel is repeated ("nearest") or mirrored ("reflect")."""
    return np.stack([
        map_coordinates(p[:, :, c], [vv * H - 0.5, uu * W - 0.5], order=1, mode=mode) for c in range(4)], axis=2)


def reached(when, progress, softness):
    return np.clip((progress * (1 + softness) - when) / softness, 0, 1)


f = fixture.Fixture()
pair = {"from": old, "to": new}
for progress, weight in ((0.25, 0), (0.5, 1), (1, 1)):
    f.case("transition.cut", pair, lerp(weight), params={"progress": progress})
f.case("transition.fade", pair, lerp(0.25), params={"progress": 0.25})
color = np.array([0.5, 0.25, 0, 0.5])
dip = np.array([0.25, 0.125, 0, 0.5])
f.case("transition.fadeToColor", pair, post(A * 0.5 + dip * 0.5), params={"progress": 0.25, "color": color})
f.case("transition.fadeToColor", pair, post(B * 0.5 + dip * 0.5), params={"progress": 0.75, "color": color})

# To the right: the pixel column at u is reached u of the way.
f.case("transition.wipe", pair, lerp(reached(u, 0.5, 0.25)), params={"progress": 0.5, "softness": 0.25})
f.case("transition.wipe", pair, lerp(reached(v, 0.5, 0.25)), params={"progress": 0.5, "softness": 0.25, "angle": 90},
       note="down")
# 45 degrees over pixels: the top left corner is 0, the bottom right corner 1.
x, y = u * W, v * H
f.case("transition.wipe", pair, lerp(reached((x + y) / (W + H), 0.25, 0.5)),
       params={"progress": 0.25, "softness": 0.5, "angle": 45}, note="towards the bottom right")

# Progress 1/2 to the right: whole pixels of `to` cover the left half, its right half shown there.
half = W // 2
slid = old.copy()
slid[:, :half] = new[:, half:]
f.case("transition.slide", pair, slid, params={"progress": 0.5})
pushed = np.concatenate([new[:, half:], old[:, :half]], axis=1)
f.case("transition.push", pair, pushed, params={"progress": 0.5})
third = H // 3
pushed = np.concatenate([old[third:], new[:third]], axis=0)
f.case("transition.push", pair, pushed, params={"progress": 1 / 3, "angle": -90}, note="upwards")
# Swiped to the left by a quarter: columns 0…5 show old 2…7, the rest the shaded new one.
shaded = new.copy()
shaded[:, :, :3] *= 1 - 0.5 * 0.75
swiped = np.concatenate([old[:, 2:], shaded[:, -2:]], axis=1)
f.case("transition.swipe", pair, swiped, params={"progress": 0.25})

p = 0.25
s = p * p * (3 - 2 * p)
zoomed = read(A, 0.5 + (u - 0.5) / 1.25, 0.5 + (v - 0.5) / 1.25) * (1 - s)
zoomed += read(B, 0.5 + (u - 0.5) / 0.625, 0.5 + (v - 0.5) / 0.625, "reflect") * s
f.case("transition.zoom", pair, post(zoomed), params={"progress": p}, within=2)

dx, dy = np.abs(u - 0.5) * W, np.abs(v - 0.5) * H
corner = np.hypot(W / 2, H / 2)
f.case("transition.iris", pair, lerp(reached(np.hypot(dx, dy) / corner, 0.5, 0.5)),
       params={"progress": 0.5, "softness": 0.5})
f.case("transition.iris", pair, lerp(reached((dx + dy) / (W / 2 + H / 2), 0.5, 0.5)),
       params={"progress": 0.5, "softness": 0.5, "shape": 1}, note="rhombus")
f.case("transition.iris", pair, lerp(reached(np.maximum(dx / (W / 2), dy / (H / 2)), 0.25, 0.5)),
       params={"progress": 0.25, "softness": 0.5, "shape": 2}, note="rectangle")
# The compass bearing of the pixel, in turns from twelve.
bearing = (np.degrees(np.arctan2((u - 0.5) * W, -(v - 0.5) * H)) % 360) / 360
f.case("transition.clock", pair, lerp(reached(bearing, 0.5, 0.25)), params={"progress": 0.5, "softness": 0.25})
grey = fixture.noise(W, H, 13)
order = grey[:, :, :3] @ np.array([0.2126, 0.7152, 0.0722])
f.case("transition.lumaWipe", {**pair, "map": grey}, lerp(reached(order, 0.5, 0.25)),
       params={"progress": 0.5, "softness": 0.25})
f.case("transition.lumaWipe", {**pair, "map": grey}, lerp(reached(1 - order, 0.5, 0.25)),
       params={"progress": 0.5, "softness": 0.25, "invert": 1}, note="light first")

# Squares of a third of the height (2 pixels) in the middle of the way, counted from the picture's centre.
cx = (np.floor((x - W / 2) / 2) + 0.5) * 2 + W / 2
cy = (np.floor((y - H / 2) / 2) + 0.5) * 2 + H / 2
blocks = (read(A, cx / W, cy / H) + read(B, cx / W, cy / H)) / 2
f.case("transition.pixelize", pair, post(blocks), params={"progress": 0.5, "square": 1 / 3})

for p, radius in ((0.25, 0.2), (0.5, 0.1)):
    s = p * p * (3 - 2 * p)
    mixed = A * (1 - s) + B * s
    half = (mixed[0::2, 0::2] + mixed[1::2, 0::2] + mixed[0::2, 1::2] + mixed[1::2, 1::2]) / 4
    hu, hv = fixture.center_uv(W // 2, H // 2)
    reach = radius * np.sin(np.pi * p)
    total = np.zeros_like(half)
    for i in range(1, 17):
        angle, r = i * np.pi * (3 - np.sqrt(5)), np.sqrt(i / 16)
        where = [(hv + reach * r * np.sin(angle)) * (H / 2) - 0.5,
                 (hu + reach * r * np.cos(angle) * H / W) * (W / 2) - 0.5]
        total += np.stack([map_coordinates(half[:, :, c], where, order=1, mode="nearest") for c in range(4)], axis=2) / 16
    up = [v * (H / 2) - 0.5, u * (W / 2) - 0.5]
    soft = np.stack([map_coordinates(total[:, :, c], up, order=1, mode="nearest") for c in range(4)], axis=2)
    share = min(1, reach * H / 2)
    f.case("transition.crossBlur", pair, post(mixed * (1 - share) + soft * share), within=2,
           params={"progress": p, "radius": radius})
f.write()
