#!/usr/bin/env python3
"""Y'CbCr codes of colour bars, from the formulas of ITU-R BT.601, BT.709 and BT.2020 in exact fractions.

Writes bars.txt, one line a colour:
    matrix range bits R G B Y Cb Cr R' G' B'
R'G'B' before are full-range 8-bit codes; those after are what the rounded Y'CbCr codes mean, rounded again: the best
that a round trip can give.

Writes roundtrip.txt, the largest errors that rounding alone makes, over all 16.7 million 8-bit colours:
    rgb matrix range bits R G B      R'G'B' -> Y'CbCr codes -> R'G'B', in 8-bit codes of each channel
    ycc matrix range bits Y Cb Cr    Y'CbCr codes -> 8-bit R'G'B' -> Y'CbCr codes, where no channel clips

Run it in this folder after changing it; the tests read both. roundtrip.txt needs NumPy.
"""
from fractions import Fraction as F

MATRICES = {"bt601": (F(299, 1000), F(114, 1000)), "bt709": (F(2126, 10000), F(722, 10000)),
            "bt2020": (F(2627, 10000), F(593, 10000))}
COLOURS = [(191, 191, 191), (191, 191, 0), (0, 191, 191), (0, 191, 0), (191, 0, 191), (191, 0, 0), (0, 0, 191),
           (0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 255, 0), (0, 0, 255), (12, 200, 77), (128, 127, 129)]


def rounded(x, top):
    return max(0, min(top, (2 * x + 1).__floor__() // 2))


def scales(span, bits):
    """Offset and scale of luma, offset and scale of chroma, in codes."""
    unit = 2 ** (bits - 8)
    top = 2 ** bits - 1
    return (16 * unit, 219 * unit, 128 * unit, 224 * unit) if span == "limited" else (0, top, 128 * unit, top)


def bars():
    with open("bars.txt", "w") as out:
        for name, (kr, kb) in MATRICES.items():
            for span in ("limited", "full"):
                for bits in (8, 10):
                    top = 2 ** bits - 1
                    black, luma, middle, chroma = scales(span, bits)
                    for colour in COLOURS:
                        r, g, b = (F(c, 255) for c in colour)
                        y = kr * r + (1 - kr - kb) * g + kb * b
                        cb = (b - y) / (2 * (1 - kb))
                        cr = (r - y) / (2 * (1 - kr))
                        codes = [rounded(black + luma * y, top), rounded(middle + chroma * cb, top),
                                 rounded(middle + chroma * cr, top)]
                        y, cb, cr = F(codes[0] - black, luma), F(codes[1] - middle, chroma), F(codes[2] - middle, chroma)
                        r = y + 2 * (1 - kr) * cr
                        b = y + 2 * (1 - kb) * cb
                        g = (y - kr * r - kb * b) / (1 - kr - kb)
                        print(name, span, bits, *colour, *codes, *(rounded(255 * c, 255) for c in (r, g, b)), file=out)


def roundtrips():
    import numpy as np
    def codes(x, top):
        return np.clip(np.floor(x + 0.5), 0, top)
    side = np.arange(256.0)
    with open("roundtrip.txt", "w") as out:
        for name, (kr, kb) in MATRICES.items():
            kr, kb = float(kr), float(kb)
            kg = 1 - kr - kb
            for span in ("limited", "full"):
                for bits in (8, 10):
                    top = 2 ** bits - 1
                    black, luma, middle, chroma = scales(span, bits)

                    def encode(r, g, b):
                        y = kr * r + kg * g + kb * b
                        return (codes(black + luma * y / 255, top),
                                codes(middle + chroma * (b - y) / (2 * (1 - kb)) / 255, top),
                                codes(middle + chroma * (r - y) / (2 * (1 - kr)) / 255, top))

                    def decode(y, cb, cr):
                        y, cb, cr = (y - black) / luma, (cb - middle) / chroma, (cr - middle) / chroma
                        r = y + 2 * (1 - kr) * cr
                        b = y + 2 * (1 - kb) * cb
                        return 255 * r, 255 * (y - kr * r - kb * b) / kg, 255 * b

                    worst = [0, 0, 0]
                    for red in side:
                        colour = (np.full((256, 256), red), side[:, None] + 0 * side, side + 0 * side[:, None])
                        back = decode(*encode(*colour))
                        for i in range(3):
                            worst[i] = max(worst[i], int(np.abs(codes(back[i], 255) - colour[i]).max()))
                    print("rgb", name, span, bits, *worst, file=out)
                    if bits == 10:
                        continue
                    worst = [0, 0, 0]
                    for y in side:
                        ycc = (np.full((256, 256), y), side[:, None] + 0 * side, side + 0 * side[:, None])
                        rgb = decode(*ycc)
                        inside = np.ones((256, 256), bool)
                        for c in rgb:
                            inside &= (c > -0.5) & (c < 255.5)
                        again = encode(*(codes(c, 255) for c in rgb))
                        for i in range(3):
                            if inside.any():
                                worst[i] = max(worst[i], int(np.abs(again[i] - ycc[i])[inside].max()))
                    print("ycc", name, span, bits, *worst, file=out)


bars()
roundtrips()
