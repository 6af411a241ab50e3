"""Colour tables in every form that `lookup` and `lut3d` read, and what they make of a real picture, by NumPy and PIL.

    python3 lookup.py MEDIA      (the folder with astronaut.png; scripts/setup fills .cache/media)

Writes look.png (GPUImage's lookup: 8×8 tiles of 64×64), hald.png (HaldCLUT of level 4), look.cube, curves.cube, look.3dl and
lookup.txt: for each file the pixels' expected codes, as `FILE x y r g b`, at places spread over the picture. It shares no
code with the filters.
"""
import pathlib
import sys

import numpy as np
from PIL import Image

here = pathlib.Path(__file__).parent
picture = np.asarray(Image.open(pathlib.Path(sys.argv[1]) / "astronaut.png").convert("RGB"))


def look(r, g, b):
    """Warm lights, teal shadows, a little contrast: three crossed channels."""
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    curve = lambda v: v * v * (3 - 2 * v)
    return np.stack([0.7 * curve(r) + 0.22 * y + 0.05 * (1 - b), 0.75 * curve(g) + 0.2 * y + 0.02, 0.6 * b + 0.25 * (1 - r) * y + 0.08], -1)


def cube(size):
    """Indexed [b, g, r]."""
    axis = np.linspace(0, 1, size)
    b, g, r = np.meshgrid(axis, axis, axis, indexing="ij")
    return np.clip(look(r, g, b), 0, 1)


def codes(table):
    return np.floor(table * 255 + 0.5).astype(np.uint8)


tiles = codes(cube(64))
Image.fromarray(tiles.reshape(8, 8, 64, 64, 3).transpose(0, 2, 1, 3, 4).reshape(512, 512, 3)).save(here / "look.png", optimize=True)
hald = codes(cube(16))
Image.fromarray(hald.reshape(64, 64, 3)).save(here / "hald.png", optimize=True)
nine = np.round(cube(9), 5)
lines = ['TITLE "look"', "LUT_3D_SIZE 9", *(" ".join(f"{v:.5f}" for v in entry) for entry in nine.reshape(-1, 3))]
(here / "look.cube").write_text("\n".join(lines) + "\n")
curve = np.round(np.stack([np.linspace(0, 1, 33) ** e for e in (0.6, 1.2, 1.9)], -1), 5)
lines = ["LUT_1D_SIZE 33", *(" ".join(f"{v:.5f}" for v in entry) for entry in curve)]
(here / "curves.cube").write_text("\n".join(lines) + "\n")
mesh = np.floor(cube(9) * 4095 + 0.5).astype(int)
lines = [" ".join(str(v) for v in [0, 128, 256, 384, 512, 640, 768, 896, 1023])]
# Red runs slowest in this format.
lines += [" ".join(map(str, mesh[b, g, r])) for r in range(9) for g in range(9) for b in range(9)]
(here / "look.3dl").write_text("\n".join(lines) + "\n")


def cell(colors, size):
    at = colors * (size - 1)
    base = np.minimum(np.floor(at).astype(int), size - 2)
    return base, at - base


def trilinear(table, colors):
    base, f = cell(colors, table.shape[0])
    result = np.zeros_like(colors)
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(np.array(corner) == 1, f, 1 - f), axis=-1)
        r, g, b = (base + corner).T
        result += weight[:, None] * table[b, g, r]
    return result


def tetrahedral(table, colors):
    base, f = cell(colors, table.shape[0])
    result = np.zeros_like(colors)
    for i in range(len(colors)):
        order = np.argsort(-f[i], kind="stable")
        corner, fractions = base[i].copy(), [1.0, *f[i][order], 0.0]
        for step in range(4):
            if step:
                corner[order[step - 1]] += 1
            r, g, b = corner
            result[i] += (fractions[step] - fractions[step + 1]) * table[b, g, r]
    return result


random = np.random.default_rng(4)
places = random.integers(0, 512, (250, 2))
colors = picture[places[:, 1], places[:, 0]] / 255
positions = np.linspace(0, 1, 33)
results = {
    "look.png": trilinear(tiles / 255, colors),
    "hald.png": tetrahedral(hald / 255, colors),
    "look.cube": tetrahedral(nine, colors),
    "look.3dl": tetrahedral(mesh / 4095, colors),
    "curves.cube": np.stack([np.interp(colors[:, c], positions, curve[:, c]) for c in range(3)], -1),
}
lines = ["# Made by lookup.py."]
for name, result in results.items():
    assert np.abs(result - colors).max() > 0.08, name
    lines += [f"{name} {x} {y} " + " ".join(f"{v:.2f}" for v in rgb * 255) for (x, y), rgb in zip(places, result)]
(here / "lookup.txt").write_text("\n".join(lines) + "\n")
