"""Keys: shares worked out per pixel with plain formulas, laid over the background by Porter and Duff's over."""
import numpy as np

import fixture

f = fixture.Fixture()
front = np.concatenate([fixture.palette().reshape(2, 8, 4), fixture.noise(8, 2, 31, opaque=False)], axis=0)
back = fixture.noise(8, 4, 32, opaque=False)
H, W = front.shape[:2]


def smoothstep(low, high, x):
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def over(rgb, alpha, keep, background=None):
    a = alpha * keep
    if background is None:
        return np.concatenate([rgb, a[:, :, None]], axis=2)
    b = background[:, :, 3]
    out = a + b * (1 - a)
    co = rgb * a[:, :, None] + background[:, :, :3] * (b * (1 - a))[:, :, None]
    return np.concatenate([co / np.where(out > 0, out, 1)[:, :, None], out[:, :, None]], axis=2)


# BT.601 from its definition: Cb = (B - Y) / (2 (1 - .114)), Cr = (R - Y) / (2 (1 - .299)).
TO = np.array([[0.299, 0.587, 0.114], [0, 0, 0], [0, 0, 0]])
TO[1] = (np.array([0, 0, 1]) - TO[0]) / (2 * (1 - 0.114))
TO[2] = (np.array([1, 0, 0]) - TO[0]) / (2 * (1 - 0.299))
BACK = np.linalg.inv(TO)
rgb, alpha = front[:, :, :3], front[:, :, 3]
ycc = rgb @ TO.T
for color, spill, background in (((0, 1, 0), 0, None), ((0, 1, 0), 1, back), ((0, 0.25, 1), 0.5, back)):
    wall = TO @ np.array(color)
    away = np.hypot(ycc[:, :, 1] - wall[1], ycc[:, :, 2] - wall[2]) * 1.41
    keep = smoothstep(0.3, 0.5, away)
    clean = ycc.copy()
    unit = wall[1:] / np.linalg.norm(wall[1:])
    lean = np.maximum(ycc[:, :, 1:] @ unit, 0)
    clean[:, :, 1:] -= spill * lean[:, :, None] * unit
    f.case(
        "chromaKey", {"foreground": front} | ({} if background is None else {"background": back}),
        over(np.maximum(clean @ BACK.T, 0), alpha, keep, background),
        params={"color": [*color, 1], "threshold": 0.3, "smoothing": 0.2, "spill": spill}, note=f"spill {spill}")

away = np.linalg.norm(rgb - np.array([1, 0.5, 0.25]), axis=2)
keep = smoothstep(0.4, 0.7, away)
f.case("colorKey", {"foreground": front}, over(rgb, alpha, keep),
       params={"color": [1, 0.5, 0.25, 1], "tolerance": 0.4, "softness": 0.3})
f.case("colorKey", {"foreground": front, "background": back}, over(rgb, alpha, keep, back),
       params={"color": [1, 0.5, 0.25, 1], "tolerance": 0.4, "softness": 0.3})

keep = smoothstep(0.25, 0.5, rgb @ np.array([0.2126, 0.7152, 0.0722]))
f.case("lumaKey", {"foreground": front}, over(rgb, alpha, keep), params={"threshold": 0.25, "softness": 0.25})
f.case("lumaKey", {"foreground": front, "background": back}, over(rgb, alpha, 1 - keep, back),
       params={"threshold": 0.25, "softness": 0.25, "invert": 1}, note="the lights go")

plate = fixture.noise(W, H, 33)
near = plate.copy()
near[:, ::2, :3] = np.clip(near[:, ::2, :3] + 0.125, 0, 1)
near[:, 1::3, :3] = 1 - near[:, 1::3, :3]
keep = smoothstep(0.1, 0.3, np.linalg.norm(near[:, :, :3] - plate[:, :, :3], axis=2))
f.case("differenceKey", {"foreground": near, "plate": plate, "background": back},
       over(near[:, :, :3], near[:, :, 3], keep, back), params={"threshold": 0.1, "softness": 0.2})

# A quadrilateral by its four half planes, worked in heights.
corners = np.array([[0.2, 0.15], [0.9, 0.1], [0.8, 0.95], [0.1, 0.7]])
u, v = fixture.center_uv(W, H)
points = np.stack([u * W / H, v], axis=2)
scaled = corners * np.array([W / H, 1])
inside = np.ones((H, W))
for i in range(4):
    a, b = scaled[i], scaled[(i + 1) % 4]
    normal = np.array([-(b - a)[1], (b - a)[0]]) / np.linalg.norm(b - a)
    inside = np.minimum(inside, np.clip((points - a) @ normal / 0.25, 0, 1))
names = ["topLeft", "topRight", "bottomRight", "bottomLeft"]
params = dict(zip(names, corners)) | {"softness": 0.25}
f.case("garbageMatte", {"foreground": front}, over(rgb, alpha, inside), params=params)
turned = dict(zip(names, corners[[1, 0, 3, 2]])) | {"softness": 0.25, "invert": 1}
f.case("garbageMatte", {"foreground": front, "background": back}, over(rgb, alpha, 1 - inside, back), params=turned,
       note="the other way round, inverted")
f.write()
