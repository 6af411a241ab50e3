"""Cases of lut3d and lookup, and the tables in files/ that they read.

Expected colours are interpolated by NumPy alone, and checked against ffmpeg's lut3d and lut1d where those read the same
table. `python3 lookup.py` writes lookup.txt and the tables.
"""
import pathlib
import subprocess

import numpy as np

import fixture

files = pathlib.Path(__file__).parent / "files"
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
    (files / name).write_bytes((end.join(lines) + end).encode())


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


def ffmpeg(filter, colors):
    """What ffmpeg's filter makes of colours, in floats."""
    r, g, b = colors.astype("<f4").T
    raw = np.concatenate([g, b, r]).tobytes()
    size = f"{len(colors)}x1"
    command = ["ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "gbrpf32le", "-s", size, "-i", "-", "-vf",
               filter, "-f", "rawvideo", "-pix_fmt", "gbrpf32le", "-"]
    out = np.frombuffer(subprocess.run(command, input=raw, capture_output=True, check=True, cwd=files).stdout, "<f4")
    g, b, r = out.reshape(3, -1)
    return np.stack([r, g, b], -1)


f = fixture.Fixture()
codes = np.concatenate([
    [[0, 0, 0], [256, 256, 256], [128, 128, 128], [256, 0, 0], [0, 256, 0], [0, 0, 256], [64, 64, 200]],
    random.integers(0, 257, (17, 3))])
colors = codes / 256
image = colors[None, :, :]


def check(filter, expected):
    worst = np.abs(ffmpeg(filter, colors) - expected).max()
    assert worst < 1e-4, (filter, worst)


look = np.round(smooth(9), 6)
write_cube("look9.cube", look, ["TITLE \"look\""])
low, high = np.array([-0.25, 0.0, 0.125]), np.array([1.25, 1.0, 0.75])
wild = random.random((5, 5, 5, 3))
# Scientific notation, Windows line ends, comments, a domain.
write_cube("domain5.cube", wild, ["", "DOMAIN_MIN -0.25 0 1.25e-1", "  # a comment", "DOMAIN_MAX 1.25 1 .75"], "\r\n", "%.9e")
gamma = np.round(np.stack([np.linspace(0, 1, 16) ** e for e in (0.5, 1.3, 2.2)], -1), 6)
write_cube("curves16.cube", gamma)
mesh = np.round(np.clip(smooth(5), 0, 1) * 4095).astype(int)
lines = ["# Lustre", "3DMESH", "Mesh 2 12", "0 256 512 767 1023"]
lines += [" ".join(map(str, mesh[b, g, r])) for r in range(5) for g in range(5) for b in range(5)]
(files / "mesh5.3dl").write_text("\n".join(lines) + "\n")

for name, table, bounds in [
        ("look9.cube", look, {}), ("domain5.cube", wild, {"low": low, "high": high}), ("mesh5.3dl", mesh / 4095, {})]:
    for interpolation, function in [("tetrahedral", tetrahedral), ("trilinear", trilinear)]:
        expected = function(table, colors, **bounds)
        if name == "look9.cube":
            check(f"lut3d={name}:interp={interpolation}", expected)
        for precision in ["bytes", "halves"]:
            f.case("lut3d", image, expected[None], note=f"{name}, {interpolation}, {precision}", options={
                "file": f"files/{name}", "interpolation": interpolation, "precision": precision})
expected = curves(gamma, colors)
check("lut1d=curves16.cube:interp=linear", expected)
f.case("lut3d", image, expected[None], note="curves", options={"file": "files/curves16.cube"})
half = 0.5 * colors + 0.5 * tetrahedral(look, colors)
f.case("lut3d", image, half[None], note="half of it", params={"intensity": 0.5}, options={"file": "files/look9.cube"})
see_through = np.concatenate([image, np.full((1, len(colors), 1), 0.5)], -1)
expected = np.concatenate([tetrahedral(look, colors)[None], np.full((1, len(colors), 1), 0.5)], -1)
f.case("lut3d", see_through, expected, note="alpha is kept", options={"file": "files/look9.cube"})
# A lookup picture is read as a cube of 64; any table has the same formula.
f.case("lookup", image, trilinear(look, colors)[None], options={"file": "files/look9.cube"}, note="trilinear")
f.write()
