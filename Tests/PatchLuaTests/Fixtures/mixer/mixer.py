#!/usr/bin/env python3
"""Expected pictures of mixers, by NumPy and OpenCV: python3 mixer.py > mixer.txt

Shares no code with the mixer. Sources are the pattern below; resampling is OpenCV's INTER_LINEAR (centres aligned) or, when
shrinking by whole factors, the mean of blocks; compositing is Porter and Duff's over on 8-bit codes, or in `light_cases` on
what sRGB's (IEC 61966-2-1) and BT.709's curves make of them.
"""
import cv2
import numpy as np


def pattern(seed, width, height, components):
    y, x, c = np.mgrid[0:height, 0:width, 0:components]
    value = (x * 37 + y * 59 + c * 83 + seed * 101 + (x * y * 7) // 2) & 255
    return value.astype(np.uint8)


def rgba(seed, width, height):
    picture = pattern(seed, width, height, 4)
    picture[..., 3] = 255
    return picture


def clear(seed, width, height):
    """See-through: straight colours times alpha, rounded."""
    picture = pattern(seed, width, height, 4).astype(np.int64)
    picture[..., :3] = (picture[..., :3] * picture[..., 3:] + 127) // 255
    return picture.astype(np.uint8)


def yuv(seed, width, height):
    half = ((width + 1) // 2, (height + 1) // 2)
    luma = pattern(seed, width, height, 1)[..., 0] // 2 + 40
    chroma = [pattern(seed + k, *half, 1)[..., 0] // 2 + 64 for k in (1, 2)]
    return [luma] + chroma


def canvas(width, height, color):
    picture = np.zeros((height, width, 4), np.float64)
    picture[...] = [int(color[i : i + 2], 16) for i in (1, 3, 5)] + [255]
    return picture


def put(target, source, x, y, opacity=1.0):
    """source over target at (x, y), cut to the target."""
    h, w = source.shape[:2]
    x0, y0, x1, y1 = max(0, x), max(0, y), min(target.shape[1], x + w), min(target.shape[0], y + h)
    if x1 <= x0 or y1 <= y0:
        return
    part = source[y0 - y : y1 - y, x0 - x : x1 - x].astype(np.float64)
    target[y0:y1, x0:x1] = part * opacity + target[y0:y1, x0:x1] * (1 - opacity)


def lay(target, source, x, y, opacity=1.0):
    """A premultiplied source over an RGBA target at (x, y), all of it on the target."""
    h, w = source.shape[:2]
    layer = source.astype(np.float64) * opacity
    target[y : y + h, x : x + w] = layer + target[y : y + h, x : x + w] * (1 - layer[..., 3:] / 255)


def sited(layer, canvas, x, y):
    """What each chroma sample sees of a layer at (x, y) on a canvas: columns 2i - 1, 2i, 2i + 1 weighed 1 2 1 (siting
    "left"; beyond the canvas its edge goes on), rows 2j and 2j + 1."""
    height, width = canvas
    whole = np.zeros((height + height % 2, width + 2, layer.shape[2]))
    h, w = layer.shape[:2]
    whole[y : y + h, x + 1 : x + 1 + w] = layer
    whole[:, 0], whole[:, width + 1] = whole[:, 1], whole[:, width]
    whole[height:] = whole[height - 1]
    across = (whole[:, 0:width:2] + 2 * whole[:, 1 : width + 1 : 2] + whole[:, 2 : width + 2 : 2]) / 4
    return (across[0::2] + across[1::2]) / 2


def lay_on_video(planes, source, x, y, opacity=1.0):
    """The same over Y'CbCr 4:2:0 of BT.601 and limited range, at an even place; chroma as an encoder of the sum sees it."""
    layer = source.astype(np.float64) * opacity
    kr, kb = 0.299, 0.114
    luma = np.array([kr, 1 - kr - kb, kb])
    sums = [luma * 219 / 255]
    for place, k in ((2, kb), (0, kr)):
        own = np.zeros(3)
        own[place] = 1
        sums.append((own - luma) / (2 * (1 - k)) * 224 / 255)
    whole = np.zeros((*planes[0].shape, 4))
    h, w = layer.shape[:2]
    whole[y : y + h, x : x + w] = layer
    for plane, (target, weights) in enumerate(zip(planes, sums)):
        part = whole if plane == 0 else sited(layer, planes[0].shape, x, y)
        alpha = part[..., 3] / 255
        code = part[..., :3] @ weights + (16 if plane == 0 else 128) * alpha
        target[...] = code + target * (1 - alpha)


def linear(source, width, height):
    return cv2.resize(source, (width, height), interpolation=cv2.INTER_LINEAR)


def blocks(source, factor):
    h, w = source.shape[:2]
    view = source.astype(np.float64).reshape(h // factor, factor, w // factor, factor, -1)
    return view.mean(axis=(1, 3)).reshape(h // factor, w // factor, *source.shape[2:])


def emit(name, size, fill, sources, lines, planes, limit, form="rgba"):
    print(f"case {name}")
    print(f"size {size[0]}x{size[1]}")
    print(f"fill {fill}")
    print(f"format {form}")
    print(f"within {limit}")
    for key, kind, width, height, seed in sources:
        print(f"source {key} {kind} {width}x{height} {seed}")
    for line in lines:
        print(f"lua {line}")
    for plane in planes:
        codes = np.clip(np.rint(plane), 0, 255).astype(np.uint8)
        for row in codes.reshape(codes.shape[0], -1):
            print("row " + bytes(row).hex())
    print("end")


def rgba_cases():
    fill = "#204060"
    # Copies at odd places, over each other and over the edges; z turns the order round.
    c = canvas(23, 17, fill)
    put(c, rgba(2, 9, 7), 11, 8)
    put(c, rgba(1, 9, 7), 5, 3)
    put(c, rgba(3, 8, 8), -3, -5)
    put(c, rgba(4, 8, 8), 19, 13)
    emit("copies", (23, 17), fill,
         [("a", "rgba", 9, 7, 1), ("b", "rgba", 9, 7, 2), ("c", "rgba", 8, 8, 3), ("d", "rgba", 8, 8, 4)],
         ["mix.slots.a = { source = a, position = {5, 3}, size = {9, 7}, z = 1 }",
          "mix.slots.b = { source = b, position = {11, 8}, size = {9, 7} }",
          "mix.slots.c = { source = c, position = {-3, -5}, size = {8, 8}, z = 2 }",
          "mix.slots.d = { source = d, position = {19, 13}, size = {8, 8}, z = 3 }"], [c], 0)

    c = canvas(16, 10, fill)
    for i, (x, y) in enumerate([(0, 0), (8, 0), (0, 5), (8, 5)]):
        put(c, np.floor(blocks(rgba(i, 16, 10), 2) + 0.5), x, y)
    emit("quadrants", (16, 10), fill, [(k, "rgba", 16, 10, i) for i, k in enumerate("abcd")],
         [f"mix.slots.{k} = {{ source = {k}, position = {{{x}, {y}}}, size = {{8, 5}} }}"
          for k, x, y in [("a", 0, 0), ("b", 8, 0), ("c", 0, 5), ("d", 8, 5)]], [c], 0)

    c = canvas(26, 15, fill)
    put(c, linear(rgba(1, 7, 5), 20, 11), 3, 2)
    emit("enlarged", (26, 15), fill, [("a", "rgba", 7, 5, 1)],
         ["mix.slots.a = { source = a, position = {3, 2}, size = {20, 11} }"], [c], 1)

    c = canvas(26, 15, fill)
    put(c, linear(rgba(1, 20, 12), 13, 9), 12, 5)
    emit("shrunkALittle", (26, 15), fill, [("a", "rgba", 20, 12, 1)],
         ["mix.slots.a = { source = a, position = {12, 5}, size = {13, 9} }"], [c], 1)

    c = canvas(20, 12, fill)
    put(c, blocks(rgba(1, 64, 32), 4), 1, 3)
    put(c, blocks(rgba(2, 16, 16), 8), 18, 1)
    emit("shrunkByFourAndEight", (20, 12), fill, [("a", "rgba", 64, 32, 1), ("b", "rgba", 16, 16, 2)],
         ["mix.slots.a = { source = a, position = {1, 3}, size = {16, 8} }",
          "mix.slots.b = { source = b, position = {18, 1}, size = {2, 2} }"], [c], 1)

    c = canvas(21, 9, fill)
    put(c, rgba(1, 13, 7), 1, 1)
    put(c, rgba(2, 13, 7), 7, 2, 0.75)
    put(c, rgba(3, 5, 5), 2, 3, 0.1)
    emit("seeThrough", (21, 9), fill, [("a", "rgba", 13, 7, 1), ("b", "rgba", 13, 7, 2), ("c", "rgba", 5, 5, 3)],
         ["mix.slots.a = { source = a, position = {1, 1}, size = {13, 7} }",
          "mix.slots.b = { source = b, position = {7, 2}, size = {13, 7}, transparency = 0.25 }",
          "mix.slots.c = { source = c, position = {2, 3}, size = {5, 5}, transparency = 0.9 }",
          "mix.slots.hidden = { source = c, size = {21, 9}, visible = false }",
          "mix.slots.clear = { source = c, size = {21, 9}, transparency = 1 }"], [c], 1)

    # Fit: 8x4 in 10x10 is 10x5, two rows below the top; beside it the slot's own colour. Fill: the middle 4x4.
    c = canvas(24, 12, fill)
    c[1:11, 1:11] = [0x80, 0x10, 0x20, 255]
    put(c, linear(rgba(1, 8, 4), 10, 5), 1, 3)
    put(c, linear(rgba(1, 8, 4)[:, 2:6], 10, 10), 13, 1)
    emit("aspects", (24, 12), fill, [("a", "rgba", 8, 4, 1)],
         ["mix.slots.fit = { source = a, position = {1, 1}, size = {10, 10}, aspect = \"fit\", fill = \"#801020\" }",
          "mix.slots.whole = { source = a, position = {13, 1}, size = {10, 10}, aspect = \"fill\" }"], [c], 1)

    # See-through pictures: over the background alone, over another one, halved, and shrunk by three.
    c = canvas(40, 17, fill)
    lay(c, clear(1, 9, 7), 1, 1)
    lay(c, clear(2, 9, 7), 5, 6, 0.75)
    lay(c, blocks(clear(3, 18, 14), 2), 15, 3)
    lay(c, blocks(clear(4, 27, 12), 3), 27, 11)
    emit("clearPictures", (40, 17), fill,
         [("a", "clear", 9, 7, 1), ("b", "clear", 9, 7, 2), ("c", "clear", 18, 14, 3), ("d", "clear", 27, 12, 4)],
         ["mix.slots.a = { source = a, position = {1, 1}, size = {9, 7} }",
          "mix.slots.b = { source = b, position = {5, 6}, size = {9, 7}, transparency = 0.25, z = 1 }",
          "mix.slots.c = { source = c, position = {15, 3}, size = {9, 7} }",
          "mix.slots.d = { source = d, position = {27, 11}, size = {9, 4} }"], [c], 1)

    c = canvas(14, 10, fill)
    put(c, rgba(1, 16, 8)[2:6, 4:12], 3, 3)
    emit("crop", (14, 10), fill, [("a", "rgba", 16, 8, 1)],
         ["mix.slots.a = { source = a, position = {3, 3}, size = {8, 4}, crop = {0.25, 0.25, 0.5, 0.5} }"], [c], 0)

    # Blends with an opaque picture on an opaque canvas: the formula alone.
    backdrop = canvas(12, 6, fill) / 255
    top = rgba(1, 12, 6).astype(np.float64) / 255
    for name, formula in [
        ("multiply", lambda b, s: b * s),
        ("screen", lambda b, s: b + s - b * s),
        ("overlay", lambda b, s: np.where(b <= 0.5, 2 * b * s, 1 - 2 * (1 - b) * (1 - s))),
        ("darken", np.minimum), ("lighten", np.maximum),
        ("add", lambda b, s: np.minimum(1, b + s)), ("difference", lambda b, s: np.abs(b - s)),
        ("exclusion", lambda b, s: b + s - 2 * b * s),
        ("hardLight", lambda b, s: np.where(s <= 0.5, 2 * b * s, 1 - 2 * (1 - b) * (1 - s))),
    ]:
        c = formula(backdrop, top) * 255
        c[..., 3] = 255
        emit(f"blend{name.capitalize()}", (12, 6), fill, [("a", "rgba", 12, 6, 1)],
             [f"mix.slots.a = {{ source = a, size = {{12, 6}}, blend = \"{name}\" }}"], [c], 1)

    # A mask: luminance of another picture (grey here), over half the slot opaque.
    c = canvas(10, 6, fill)
    grey = pattern(5, 8, 4, 1)[..., 0]
    layer = rgba(1, 8, 4).astype(np.float64)
    weight = grey[..., None] / 255
    c[1:5, 1:9] = layer * weight + c[1:5, 1:9] * (1 - weight)
    emit("mask", (10, 6), fill, [("a", "rgba", 8, 4, 1), ("m", "grey", 8, 4, 5)],
         ["mix.slots.a = { source = a, position = {1, 1}, size = {8, 4}, mask = m }"], [c], 1)

    # A border of two pixels on the inner side, and one that is half transparent.
    c = canvas(14, 10, fill)
    put(c, rgba(1, 10, 6), 2, 2)
    edge = np.ones((6, 10), bool)
    edge[2:4, 2:8] = False
    c[2:8, 2:12][edge] = c[2:8, 2:12][edge] * 0.5 + np.array([255, 128, 0, 255]) * 0.5
    c[..., 3] = 255
    emit("border", (14, 10), fill, [("a", "rgba", 10, 6, 1)],
         ["mix.slots.a = { source = a, position = {2, 2}, size = {10, 6}, border = { 2, { 1, 0.502, 0, 0.5 } } }"], [c], 1)

    # A hard shadow, three to the right and two down.
    c = canvas(16, 10, fill)
    c[4:9, 5:13] = c[4:9, 5:13] * 0.5 + np.array([0, 0, 0, 255]) * 0.5
    put(c, rgba(1, 8, 5), 2, 2)
    emit("shadow", (16, 10), fill, [("a", "rgba", 8, 5, 1)],
         ["mix.slots.a = { source = a, position = {2, 2}, size = {8, 5}, shadow = { offset = {3, 2}, color = {0, 0, 0, 0.5} } }"],
         [c], 1)


def yuv_fill(color):
    r, g, b = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    luma = 0.299 * r + 0.587 * g + 0.114 * b
    return [luma * 219 + 16, (b - luma) / 1.772 * 224 + 128, (r - luma) / 1.402 * 224 + 128]


def yuv_canvas(width, height, color):
    half = ((height + 1) // 2, (width + 1) // 2)
    codes = [np.rint(v) for v in yuv_fill(color)]
    return [np.full((height, width), codes[0])] + [np.full(half, codes[k]) for k in (1, 2)]


def yuv_cases():
    fill = "#204060"
    c = yuv_canvas(23, 15, fill)
    for plane, source in zip(c, yuv(1, 9, 7)):
        step = 1 if plane.shape[0] == 15 else 2
        put(plane, source, 14 // step, 8 // step)
    emit("yuvCopy", (23, 15), fill, [("a", "yuv420p", 9, 7, 1)],
         ["mix.slots.a = { source = a, position = {14, 8}, size = {9, 7} }"], c, 0, "yuv420p")

    c = yuv_canvas(32, 20, fill)
    for i, (x, y) in enumerate([(0, 0), (16, 0), (0, 10), (16, 10)]):
        for plane, source in zip(c, yuv(i, 32, 20)):
            step = 1 if plane.shape[0] == 20 else 2
            # Chroma of a quadrant ten rows high has five rows.
            put(plane, np.floor(blocks(source, 2) + 0.5), x // step, y // step)
    emit("yuvQuadrants", (32, 20), fill, [(k, "yuv420p", 32, 20, i) for i, k in enumerate("abcd")],
         [f"mix.slots.{k} = {{ source = {k}, position = {{{x}, {y}}}, size = {{16, 10}} }}"
          for k, x, y in [("a", 0, 0), ("b", 16, 0), ("c", 0, 10), ("d", 16, 10)]], c, 0, "yuv420p")

    # An odd place: luma pixel by pixel. A chroma sample at the edge is covered by half (a quarter in the corners) and is
    # that share of the source's chroma, which is read bilinearly half a sample on.
    c = yuv_canvas(20, 12, fill)
    source = yuv(1, 10, 6)
    put(c[0], source[0], 5, 3)
    for k in (1, 2):
        plane, chroma = c[k], source[k].astype(np.float64)
        h, w = chroma.shape
        for y in range(plane.shape[0]):
            for x in range(plane.shape[1]):
                share = [max(0, min(1, min(p + 0.5 - o, o + n - p - 0.5) + 0.5)) for p, o, n in ((x, 2.5, 5), (y, 1.5, 3))]
                weight = share[0] * share[1]
                if weight == 0:
                    continue
                u, v = min(max(x + 0.5 - 2.5, 0.5), w - 0.5) - 0.5, min(max(y + 0.5 - 1.5, 0.5), h - 0.5) - 0.5
                i, j = min(int(u), w - 2), min(int(v), h - 2)
                a, b = u - i, v - j
                value = (chroma[j, i] * (1 - a) + chroma[j, i + 1] * a) * (1 - b) + (
                    chroma[j + 1, i] * (1 - a) + chroma[j + 1, i + 1] * a) * b
                plane[y, x] = value * weight + plane[y, x] * (1 - weight)
    emit("yuvOddPlace", (20, 12), fill, [("a", "yuv420p", 10, 6, 1)],
         ["mix.slots.a = { source = a, position = {5, 3}, size = {10, 6} }"], c, 1, "yuv420p")

    c = yuv_canvas(24, 16, fill)
    for plane, source in zip(c, yuv(1, 10, 6)):
        step = 1 if plane.shape[0] == 16 else 2
        put(plane, linear(source, 16 // step, 10 // step), 4 // step, 2 // step, 0.5)
    emit("yuvSeeThrough", (24, 16), fill, [("a", "yuv420p", 10, 6, 1)],
         ["mix.slots.a = { source = a, position = {4, 2}, size = {16, 10}, transparency = 0.5 }"], c, 1, "yuv420p")

    # See-through R'G'B' over video, at its own size and enlarged to twice; a code of rounding more than elsewhere.
    c = yuv_canvas(40, 20, fill)
    for plane, source in zip(c, yuv(5, 40, 20)):
        plane[...] = source
    lay_on_video(c, clear(1, 12, 8), 2, 4)
    lay_on_video(c, clear(2, 10, 6), 10, 8, 0.6)
    lay_on_video(c, linear(clear(3, 8, 6), 16, 12), 22, 2)
    emit("yuvUnderClearPictures", (40, 20), fill,
         [("v", "yuv420p", 40, 20, 5), ("a", "clear", 12, 8, 1), ("b", "clear", 10, 6, 2), ("c", "clear", 8, 6, 3)],
         ["mix.slots.v = { source = v, size = {40, 20} }",
          "mix.slots.a = { source = a, position = {2, 4}, size = {12, 8}, z = 1 }",
          "mix.slots.b = { source = b, position = {10, 8}, size = {10, 6}, transparency = 0.4, z = 2 }",
          "mix.slots.c = { source = c, position = {22, 2}, size = {16, 12}, z = 3 }"], c, 2, "yuv420p")

    # Over all of an odd canvas, and a picture as narrow as two pixels at its left edge.
    c = yuv_canvas(23, 15, fill)
    for plane, source in zip(c, yuv(5, 23, 15)):
        plane[...] = source
    lay_on_video(c, clear(1, 23, 15), 0, 0)
    lay_on_video(c, clear(2, 2, 2), 0, 6)
    emit("yuvUnderClearToItsEdges", (23, 15), fill,
         [("v", "yuv420p", 23, 15, 5), ("a", "clear", 23, 15, 1), ("b", "clear", 2, 2, 2)],
         ["mix.slots.v = { source = v, size = {23, 15} }",
          "mix.slots.a = { source = a, size = {23, 15}, z = 1 }",
          "mix.slots.b = { source = b, position = {0, 6}, size = {2, 2}, z = 2 }"], c, 2, "yuv420p")

    # At an odd place a picture is its own edges' share of nothing: whole pixels.
    c = yuv_canvas(24, 16, fill)
    for plane, source in zip(c, yuv(5, 24, 16)):
        plane[...] = source
    lay_on_video(c, clear(1, 9, 7), 5, 3)
    emit("yuvUnderClearAtAnOddPlace", (24, 16), fill,
         [("v", "yuv420p", 24, 16, 5), ("a", "clear", 9, 7, 1)],
         ["mix.slots.v = { source = v, size = {24, 16} }",
          "mix.slots.a = { source = a, position = {5, 3}, size = {9, 7}, z = 1 }"], c, 2, "yuv420p")

    # Video that is enlarged, shrunk by 1.6 and shrunk by three, each plane by itself.
    c = yuv_canvas(60, 24, fill)
    for x, y, w, h, source in [(2, 2, 20, 12, yuv(1, 12, 8)), (24, 4, 20, 10, yuv(2, 32, 16)), (46, 8, 12, 8, yuv(3, 36, 24))]:
        for plane, samples in zip(c, source):
            step = 1 if plane.shape[0] == 24 else 2
            size = (w // step, h // step)
            part = blocks(samples, 3) if w == 12 else linear(samples, *size)
            put(plane, part, x // step, y // step)
    emit("yuvResized", (60, 24), fill,
         [("a", "yuv420p", 12, 8, 1), ("b", "yuv420p", 32, 16, 2), ("c", "yuv420p", 36, 24, 3)],
         ["mix.slots.a = { source = a, position = {2, 2}, size = {20, 12} }",
          "mix.slots.b = { source = b, position = {24, 4}, size = {20, 10} }",
          "mix.slots.c = { source = c, position = {46, 8}, size = {12, 8} }"], c, 1, "yuv420p")


SRGB = (12.92, 0.055, 1.055, 2.4, 0.04045)
BT709 = (4.5, 0.099, 1.099, 1 / 0.45, 0.081)


def to_light(v, curve):
    slope, offset, scale, power, knee = curve
    return np.where(v < knee, v / slope, ((np.maximum(v, knee) + offset) / scale) ** power)


def from_light(v, curve):
    slope, offset, scale, power, knee = curve
    low = knee / slope
    return np.where(v < low, v * slope, scale * np.maximum(v, low) ** (1 / power) - offset)


def lay_light(target, color, alpha, x, y, curve=SRGB):
    """Straight colour (codes) and alpha (0…1) over an opaque target at (x, y), weighed as light."""
    h, w = alpha.shape[:2]
    part = target[y : y + h, x : x + w, :3]
    light = to_light(color[..., :3] / 255, curve) * alpha[..., None]
    light = light + to_light(part / 255, curve) * (1 - alpha[..., None])
    target[y : y + h, x : x + w, :3] = from_light(light, curve) * 255


def light_cases():
    fill, setting = "#204060", 'graph { light = "linear" }'

    def clear_straight(seed, width, height):
        codes = clear(seed, width, height).astype(np.float64)
        alpha = codes[..., 3] / 255
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(codes[..., :3] / alpha[..., None], posinf=0), alpha

    c = canvas(30, 14, fill)
    put(c, rgba(1, 9, 7), 1, 1)
    lay_light(c, rgba(2, 13, 7), np.full((7, 13), 0.5), 6, 3)
    lay_light(c, *clear_straight(3, 10, 8), 17, 5)
    emit("lightSeeThrough", (30, 14), fill, [("a", "rgba", 9, 7, 1), ("b", "rgba", 13, 7, 2), ("c", "clear", 10, 8, 3)],
         [setting, "mix.slots.a = { source = a, position = {1, 1}, size = {9, 7} }",
          "mix.slots.b = { source = b, position = {6, 3}, size = {13, 7}, transparency = 0.5, z = 1 }",
          "mix.slots.c = { source = c, position = {17, 5}, size = {10, 8}, z = 2 }"], [c], 1)

    # What is beside a fitted picture, a border, a shadow: all half there.
    c = canvas(30, 16, fill)
    half = np.full((16, 30), 128 / 255)
    lay_light(c, np.array([0x80, 0xC0, 0x40]) + np.zeros((10, 10, 3)), half[:10, :10], 1, 1)
    c[3:8, 1:11] = linear(rgba(1, 8, 4), 10, 5)
    lay_light(c, np.zeros((6, 10, 3)), half[:6, :10], 17, 5)
    put(c, rgba(2, 10, 6), 15, 3)
    border = np.zeros((6, 10))
    border[:2] = border[-2:] = border[:, :2] = border[:, -2:] = 128 / 255
    lay_light(c, np.array([255, 128, 0]) + np.zeros((6, 10, 3)), border, 15, 3)
    emit("lightBoxes", (30, 16), fill, [("a", "rgba", 8, 4, 1), ("b", "rgba", 10, 6, 2)],
         [setting, "mix.slots.a = { source = a, position = {1, 1}, size = {10, 10}, aspect = \"fit\", fill = \"#80c04080\" }",
          "mix.slots.b = { source = b, position = {15, 3}, size = {10, 6}, border = { 2, \"#ff800080\" }, "
          "shadow = { offset = {2, 2}, color = \"#00000080\" } }"], [c], 1)

    # A mask weighs by its codes.
    c = canvas(10, 6, fill)
    weight = pattern(5, 8, 4, 1)[..., 0] / 255
    lay_light(c, rgba(1, 8, 4), weight, 1, 1)
    emit("lightMask", (10, 6), fill, [("a", "rgba", 8, 4, 1), ("m", "grey", 8, 4, 5)],
         [setting, "mix.slots.a = { source = a, position = {1, 1}, size = {8, 4}, mask = m }"], [c], 1)

    # A blend's formula means codes, in linear light too.
    c = canvas(12, 6, fill) / 255 * (rgba(1, 12, 6) / 255) * 255
    emit("lightBlend", (12, 6), fill, [("a", "rgba", 12, 6, 1)],
         [setting, "mix.slots.a = { source = a, size = {12, 6}, blend = \"multiply\" }"], [c], 1)

    # Over video, in grey, so that its halved chroma stays out of it. BT.709's curve.
    c = canvas(24, 12, "#606060")
    put(c, np.repeat(pattern(1, 10, 6, 1), 4, 2), 2, 2)
    grey = np.repeat(pattern(2, 12, 8, 1), 4, 2)
    lay_light(c, grey, np.full((8, 12), 0.5), 8, 2, BT709)
    chroma = np.full((6, 12), 128)
    emit("lightVideo", (24, 12), "#606060", [("a", "grey", 10, 6, 1), ("b", "grey", 12, 8, 2)],
         [setting, "mix.slots.a = { source = a, position = {2, 2}, size = {10, 6} }",
          "mix.slots.b = { source = b, position = {8, 2}, size = {12, 8}, transparency = 0.5, z = 1 }"],
         [c[..., 0] * 219 / 255 + 16, chroma, chroma], 1, "yuv420p")


rgba_cases()
yuv_cases()
light_cases()
