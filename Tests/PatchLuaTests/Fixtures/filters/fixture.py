"""Writes the fixture files of the filters' pixel tests: see Tests/PatchLuaTests/FilterCase.swift for the format.

The scripts CATEGORY.py beside this one compute expected pixels from the literature's formulas with NumPy, SciPy,
scikit-image and OpenCV. They share no code with the filters. `python3 CATEGORY.py` writes CATEGORY.txt.

Pictures are arrays of shape (height, width, 4): straight R'G'B'A, 0…1. A (height, width) array is an opaque grey, a
(height, width, 3) array is opaque. The pictures made here hold multiples of 1/256, which half floats keep exactly.
"""
import os
import sys

import numpy as np

LUMA = np.array([0.2125, 0.7154, 0.0721])


def picture(values):
    """Any of the shapes above as (height, width, 4)."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 2:
        values = np.repeat(values[:, :, None], 3, axis=2)
    if values.shape[2] == 3:
        values = np.concatenate([values, np.ones(values.shape[:2] + (1,))], axis=2)
    return values


def noise(width, height, seed, opaque=True):
    """Independent pixels. Alpha is a multiple of 1/4."""
    random = np.random.default_rng(seed)
    values = random.integers(0, 257, (height, width, 4)) / 256
    values[:, :, 3] = 1 if opaque else random.integers(0, 5, (height, width)) / 4
    return values


def smooth(width, height, seed):
    """A soft opaque picture with all hues: a photograph's stand-in."""
    y, x = np.mgrid[0:height, 0:width]
    random = np.random.default_rng(seed)
    layers = []
    for _ in range(3):
        a, b, c, d = random.uniform(0.1, 0.6, 4)
        layers.append(0.5 + 0.28 * np.sin(a * x + b * y + 6 * c) + 0.2 * np.cos(d * x - a * y))
    return picture(np.round(np.clip(np.stack(layers, axis=2), 0, 1) * 256) / 256)


def palette():
    """Sixteen colours in a row that formulas treat differently: primaries, greys, pastels, dark tones, skin."""
    codes = """000000 ffffff ff0000 00ff00 0000ff ffff00 00ffff ff00ff
               808080 404040 c0a080 e0b090 203060 90c0f0 306020 a02050""".split()
    rgb = [[int(code[i:i + 2], 16) / 256 if code[i:i + 2] != "ff" else 1 for i in (0, 2, 4)] for code in codes]
    return picture(np.array([rgb]))


def center_uv(width, height):
    """u and v of the pixels' centres, each (height, width)."""
    y, x = np.mgrid[0:height, 0:width]
    return (x + 0.5) / width, (y + 0.5) / height


class Fixture:
    """Collects cases; `write` makes CATEGORY.txt beside the script that runs."""

    def __init__(self):
        self.script = os.path.abspath(sys.argv[0])
        self.lines = [f"# Made by {os.path.basename(self.script)}."]

    def case(self, name, inputs, output, params=None, options=None, within=1, why="", note="", tick=None):
        """inputs: a picture, or {port: picture or [pictures in time]}; within: 255ths; why: needed above 2."""
        self.lines.append(f"filter {name}")
        if note:
            self.lines.append(f"note {note}")
        for key, value in (params or {}).items():
            self.lines.append(f"set {key} " + " ".join(self.number(v) for v in np.ravel(np.float64(value))))
        for key, value in (options or {}).items():
            value = str(value).lower() if isinstance(value, bool) else str(value)
            self.lines.append(f"option {key} {value}")
        if tick is not None:
            self.lines.append(f"tick {tick}")
        if not isinstance(inputs, dict):
            inputs = {"image": inputs}
        for port, pictures in inputs.items():
            for one in pictures if isinstance(pictures, list) else [pictures]:
                one = picture(one)
                self.lines.append(f"input {port} {one.shape[1]}x{one.shape[0]}")
                self.rows(one)
        output = picture(output)
        if not np.isfinite(output).all():
            raise SystemExit(f"{name} {note}: the expected picture has values that are not finite")
        if within > 2 and not why:
            raise SystemExit(f"{name} {note}: a limit above 2 needs its reason")
        self.lines.append(f"output {output.shape[1]}x{output.shape[0]} within {within:g}" + (f": {why}" if why else ""))
        self.rows(output)

    @staticmethod
    def number(value):
        return f"{value:.5f}".rstrip("0").rstrip(".") if abs(value) < 1000 else f"{value:g}"

    def pixel(self, p):
        r, g, b, a = (self.number(float(v)) for v in p)
        r, g, b, a = ("0" if v == "-0" else v for v in (r, g, b, a))
        if a != "1":
            return f"{r} {g} {b} {a}"
        return r if r == g == b else f"{r} {g} {b}"

    def rows(self, image):
        for row in image:
            self.lines.append(" | ".join(self.pixel(p) for p in row))

    def write(self):
        with open(os.path.splitext(self.script)[0] + ".txt", "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")
        print(f"{sum(line.startswith('filter ') for line in self.lines)} cases")
