#!/usr/bin/env python3
"""Y'CbCr codes of colour bars, from the formulas of ITU-R BT.601, BT.709 and BT.2020 in exact fractions.

Writes bars.txt: matrix range bits R G B Y Cb Cr, one line a colour; R'G'B' are full-range 8-bit codes.
Run it in this folder after changing it; the tests read bars.txt.
"""
from fractions import Fraction as F

MATRICES = {"bt601": (F(299, 1000), F(114, 1000)), "bt709": (F(2126, 10000), F(722, 10000)),
            "bt2020": (F(2627, 10000), F(593, 10000))}
COLOURS = [(191, 191, 191), (191, 191, 0), (0, 191, 191), (0, 191, 0), (191, 0, 191), (191, 0, 0), (0, 0, 191),
           (0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 255, 0), (0, 0, 255), (12, 200, 77), (128, 127, 129)]


def rounded(x, top):
    return max(0, min(top, (2 * x + 1).__floor__() // 2))


with open("bars.txt", "w") as out:
    for name, (kr, kb) in MATRICES.items():
        for span in ("limited", "full"):
            for bits in (8, 10):
                unit = 2 ** (bits - 8)
                top = 2 ** bits - 1
                for colour in COLOURS:
                    r, g, b = (F(c, 255) for c in colour)
                    y = kr * r + (1 - kr - kb) * g + kb * b
                    cb = (b - y) / (2 * (1 - kb))
                    cr = (r - y) / (2 * (1 - kr))
                    if span == "limited":
                        codes = (16 * unit + 219 * unit * y, 128 * unit + 224 * unit * cb, 128 * unit + 224 * unit * cr)
                    else:
                        codes = (top * y, 128 * unit + top * cb, 128 * unit + top * cr)
                    print(name, span, bits, *colour, *(rounded(c, top) for c in codes), file=out)
