"""What filters publish as data of a real picture and a real clip, by NumPy, SciPy, OpenCV and scikit-image: writes data.txt.

    python3 data.py MEDIA      (the folder with astronaut.png and carphone_pristine.mp4; scripts/setup fills .cache/media)

A line is a name and its numbers. Points are x y x y …, in 0…1 from the upper left; pixels' centres lie at half pixels.
It shares no code with the filters. Lists that end at a threshold come twice: `NAME` holds what is above it and above its
neighbours by a margin, and must be found; `NAME.allowed` also what is below by less than the margin, and nothing else may be.
"""
import pathlib
import subprocess
import sys

import cv2
import numpy as np
from scipy import ndimage
from skimage import feature, transform

media = pathlib.Path(sys.argv[1])
lines = ["# Made by data.py."]


def write(name, values):
    lines.append(f"{name} " + " ".join(f"{v:.6g}" for v in np.ravel(values)))


rgb = cv2.cvtColor(cv2.imread(str(media / "astronaut.png")), cv2.COLOR_BGR2RGB)
height, width = rgb.shape[:2]
weights = np.array([0.2125, 0.7154, 0.0721])
luma = rgb / 255 @ weights

# Averages and histograms.
mean = rgb.reshape(-1, 3).mean(0) / 255
write("averageColor.color", [*mean, 1])
write("averageColor.luminance", mean @ weights)
for channel, name in enumerate(["red", "green", "blue"]):
    write(f"histogram.{name}", cv2.calcHist([rgb], [channel], None, [256], [0, 256]) / (width * height))
write("histogram.luminance", np.bincount(np.floor(rgb @ weights + 0.5).astype(int).ravel(), minlength=256) / luma.size)

# Corners. Borders repeat their pixels.
dx, dy = (ndimage.prewitt(luma, axis, mode="nearest") for axis in (1, 0))
x, y, z = (ndimage.gaussian_filter(p, 2, mode="nearest", truncate=6) for p in (dx * dx, dy * dy, dx * dy))
lesser = np.linalg.eigvalsh(np.stack([np.stack([x, z], -1), np.stack([z, y], -1)], -1))[..., 0]
measures = {
    "harris": ((x * y - z * z - 0.04 * (x + y) ** 2) * 5, 0.2),
    "noble": ((x * y - z * z) / np.maximum(x + y, 1e-6) * 5, 0.9),
    "shiTomasi": (lesser * 2 * 1.5, 0.5),
}


def points(mask):
    rows, columns = np.nonzero(mask)
    return np.stack([(columns + 0.5) / width, (rows + 0.5) / height], -1)


def corners(name, strength, threshold, margin=0.004, tolerance=0.002):
    around = ndimage.maximum_filter(strength, footprint=[[1, 1, 1], [1, 0, 1], [1, 1, 1]], mode="nearest")
    sure = (strength >= threshold * (1 + margin)) & (strength > around * (1 + tolerance))
    allowed = (strength >= threshold * (1 - margin)) & (strength >= around * (1 - tolerance))
    write(f"{name}.threshold", threshold)
    write(name, points(sure))
    write(f"{name}.allowed", points(allowed))
    print(name, sure.sum(), allowed.sum())
    assert 20 < allowed.sum() < 512


for name, (strength, threshold) in measures.items():
    corners(name, strength, threshold)

# The strongest corners by scikit-image, whose derivative is Sobel's: near to them there must be one of ours.
response = feature.corner_harris(luma, k=0.04, sigma=2)
strongest = feature.peak_local_max(response, min_distance=4, num_peaks=40)
write("harris.skimage", (strongest[:, ::-1] + 0.5) / [width, height])

# FAST-9 by OpenCV, which works on whole codes; ours on halves, so its score may differ by one code.
codes = np.floor(luma * 255 + 0.5).astype(np.uint8)
surely = np.zeros(luma.shape, bool)
for point in cv2.FastFeatureDetector_create(84, True, cv2.FAST_FEATURE_DETECTOR_TYPE_9_16).detect(codes):
    surely[int(point.pt[1]), int(point.pt[0])] = True
possibly = np.zeros(luma.shape, bool)
for point in cv2.FastFeatureDetector_create(77, False, cv2.FAST_FEATURE_DETECTOR_TYPE_9_16).detect(codes):
    possibly[int(point.pt[1]), int(point.pt[0])] = True
write("fast.threshold", 80 / 255)
write("fast", points(surely))
write("fast.allowed", points(possibly))
print("fast", surely.sum(), possibly.sum())

# Straight lines by scikit-image, of edges by the definition that `canny` states.
taps = np.exp(-np.arange(-4, 5) ** 2 / 8)
taps /= taps.sum()
soft = ndimage.correlate1d(ndimage.correlate1d(luma, taps, 0, mode="nearest"), taps, 1, mode="nearest")
gx, gy = ndimage.sobel(soft, 1, mode="nearest"), ndimage.sobel(soft, 0, mode="nearest")
strength = np.hypot(gx, gy)
unit = np.maximum(strength, 1e-12)
right, down = (np.sign(g) * np.floor(np.abs(g / unit) + 0.617316) for g in (gx, gy))
kept = np.zeros(strength.shape)
padded = np.pad(strength, 1, mode="edge")
for v in (-1, 0, 1):
    for u in (-1, 0, 1):
        ahead = padded[1 + v:1 + v + height, 1 + u:1 + u + width]
        behind = padded[1 - v:1 - v + height, 1 - u:1 - u + width]
        kept = np.where((right == u) & (down == v) & (strength >= np.maximum(ahead, behind)), strength, kept)
t = np.clip((kept - 0.1) / 0.3, 0, 1)
kept = t * t * (3 - 2 * t)
edges = (ndimage.correlate(kept, np.ones((3, 3)), mode="nearest") >= 1.5) & (kept >= 0.01)
votes, angles, distances = transform.hough_line(edges, np.radians(np.arange(-90, 90)))
_, angle, distance = transform.hough_line_peaks(votes, angles, distances, min_distance=5, min_angle=5, num_peaks=12)
write("houghLines.edges", edges.sum())
# Angle in degrees and distance in pixels from the corner of the first pixel, strongest first.
write("houghLines", np.stack([np.degrees(angle), distance + 0.5 * (np.cos(angle) + np.sin(angle))], -1))
print("hough", edges.sum(), [int(v) for v in votes.max(0)[:0]], votes.max(), np.sort(votes[votes > 60])[::-1][:12])

# Motion in a clip, frame by frame.
command = ["ffmpeg", "-v", "error", "-i", media / "carphone_pristine.mp4", "-frames:v", "24", "-f", "rawvideo", "-pix_fmt", "rgb24"]
command[-4:-4] = ["-sws_flags", "accurate_rnd+full_chroma_int+bilinear"]
raw = subprocess.run([*command, "-"], capture_output=True, check=True).stdout
frames = np.frombuffer(raw, np.uint8).reshape(-1, 144, 176, 3) / 255 @ weights
low = frames[0]
for index, frame in enumerate(frames):
    if index:
        low = 0.5 * low + 0.5 * frame
    else:
        # In the first frame the memory is the picture's own.
        low = frame
    moving = np.abs(frame - low) >= 0.05
    rows, columns = np.nonzero(moving)
    middle = [(columns.mean() + 0.5) / 176, (rows.mean() + 0.5) / 144] if len(rows) else [0.5, 0.5]
    unsure = (np.abs(np.abs(frame - low) - 0.05) < 0.005).mean()
    write(f"motionDetector.{index}", [moving.mean(), *middle, unsure])

(pathlib.Path(__file__).parent / "data.txt").write_text("\n".join(lines) + "\n")
