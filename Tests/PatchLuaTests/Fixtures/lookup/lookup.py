#!/usr/bin/env python3
"""Tables and what they make of colours, by NumPy alone, and against ffmpeg's lut3d and lut1d where it reads the file.

Writes beside itself: *.cube, *.3dl, and lookup.txt with lines
    FILE INTERPOLATION R G B -> R G B
of 8-bit input codes and unrounded expected codes. Run: python3 lookup.py
"""
import pathlib
import subprocess
import numpy as np

here = pathlib.Path(__file__).parent
random = np.random.default_rng(7)


def smooth(side):
    """A warm look with crossed channels; index [b, g, r]."""
    axis = np.linspace(0, 1, side)
    b, g, r = np.meshgrid(axis, axis, axis, indexing="ij")
    luma = 0.2126 * r + 0.7152 * g + 0.0722 * b
    curve = lambda x: x * x * (3 - 2 * x)
    return np.stack([0.75 * curve(r) + 0.2 * luma + 0.04, 0.8 * curve(g) + 0.18 * luma, 0.6 * curve(b) + 0.3 * luma], -1)


def write_cube(name, table, head=(), end="\n", form="%.6f"):
    side = table.shape[0]
    size = f"LUT_{'1D' if table.ndim == 2 else '3D'}_SIZE {side}"
    lines = ["# made by lookup.py", *head, size]
    lines += [" ".join(form % v for v in entry) for entry in table.reshape(-1, 3)]
    (here / name).write_bytes((end.join(lines) + end).encode())


def cell(colors, low, high, side):
    at = np.clip((colors - low) / (np.asarray(high) - low), 0, 1) * (side - 1)
    base = np.minimum(np.floor(at).astype(int), side - 2)
    return base, at - base


def trilinear(table, colors, low=np.zeros(3), high=np.ones(3)):
    base, f = cell(colors, low, high, table.shape[0])
    result = np.zeros_like(colors)
    for corner in np.ndindex(2, 2, 2):
        corner = np.array(corner)
        weight = np.prod(np.where(corner == 1, f, 1 - f), axis=-1)
        r, g, b = (base + corner).T
        result += weight[:, None] * table[b, g, r]
    return result


def tetrahedral(table, colors, low=np.zeros(3), high=np.ones(3)):
    base, f = cell(colors, low, high, table.shape[0])
    result = np.zeros_like(colors)
    for i in range(len(colors)):
        order = np.argsort(-f[i], kind="stable")
        corner = base[i].copy()
        fractions = [1.0, *f[i][order], 0.0]
        for step in range(4):
            if step:
                corner[order[step - 1]] += 1
            r, g, b = corner
            result[i] += (fractions[step] - fractions[step + 1]) * table[b, g, r]
    return result


def curves(table, colors, low=np.zeros(3), high=np.ones(3)):
    side = table.shape[0]
    out = np.zeros_like(colors)
    for c in range(3):
        positions = np.linspace(low[c], high[c], side)
        out[:, c] = np.interp(colors[:, c], positions, table[:, c])
    return out


def ffmpeg(filter, codes):
    r, g, b = (codes / 255).astype("<f4").T
    raw = np.concatenate([g, b, r]).tobytes()
    size = f"{len(codes)}x1"
    command = ["ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "gbrpf32le", "-s", size, "-i", "-", "-vf",
               filter, "-f", "rawvideo", "-pix_fmt", "gbrpf32le", "-"]
    out = np.frombuffer(subprocess.run(command, input=raw, capture_output=True, check=True, cwd=here).stdout, "<f4")
    g, b, r = out.reshape(3, -1)
    return np.stack([r, g, b], -1)


codes = np.concatenate([
    [[0, 0, 0], [255, 255, 255], [128, 128, 128], [255, 0, 0], [0, 255, 0], [0, 0, 255], [64, 64, 200]],
    random.integers(0, 256, (41, 3))])
colors = codes / 255

look = np.round(smooth(9), 6)
write_cube("look9.cube", look, ["TITLE \"look\""])
low, high = np.array([-0.25, 0.0, 0.125]), np.array([1.25, 1.0, 0.75])
wild = random.random((5, 5, 5, 3))
# Scientific notation, Windows line ends, comments, a domain.
write_cube("domain5.cube", wild, ["", "DOMAIN_MIN -0.25 0 1.25e-1", "  # a comment", "DOMAIN_MAX 1.25 1 .75"], "\r\n", "%.9e")
gamma = np.stack([np.linspace(0, 1, 16) ** e for e in (0.5, 1.3, 2.2)], -1)
write_cube("curves16.cube", np.round(gamma, 6))
long = np.stack([np.linspace(0, 1, 5000) ** e for e in (0.9, 1.0, 1.2)], -1)
mesh = np.round(np.clip(smooth(5), 0, 1) * 4095).astype(int)
lines = ["# Lustre", "3DMESH", "Mesh 2 12", "0 256 512 767 1023"]
lines += [" ".join(map(str, mesh[b, g, r])) for r in range(5) for g in range(5) for b in range(5)]
(here / "mesh5.3dl").write_text("\n".join(lines) + "\n")

results = []
for name, table, bounds in [
        ("look9.cube", look, {}), ("domain5.cube", wild, {"low": low, "high": high}), ("mesh5.3dl", mesh / 4095, {})]:
    for interpolation, function in [("tetrahedral", tetrahedral), ("trilinear", trilinear)]:
        expected = function(table, colors, **bounds)
        if not bounds and name.endswith(".cube"):
            # ffmpeg's own sorting of equal fractions may differ; the result does not.
            worst = np.abs(ffmpeg(f"lut3d={name}:interp={interpolation}", codes) - expected).max()
            assert worst < 1e-4, (name, interpolation, worst)
        results.append((name, interpolation, expected))
expected = curves(np.round(gamma, 6), colors)
worst = np.abs(ffmpeg("lut1d=curves16.cube:interp=linear", codes) - expected).max()
assert worst < 1e-4, worst
results.append(("curves16.cube", "tetrahedral", expected))

with open(here / "lookup.txt", "w") as file:
    for name, interpolation, expected in results:
        for code, out in zip(codes, expected * 255):
            print(name, interpolation, *code, "->", *(f"{v:.3f}" for v in out), file=file)
