"""ffmpeg's avgblur_vulkan beside what its shader says, worked out here.

Arguments: ffmpeg's name, a clip, the number of frames. The filter's two passes are boxes of 2 r + 1 samples; a sample lies
at a texel's corner and is filtered linearly, so it is the mean of four texels. Between the passes values are rounded to
8 bits. Prints the largest difference of each plane of the last frame, one a line: `NAME VALUE`. What the filter computes
in workgroup memory stores past its end (harmlessly, by the shader's own count), where drivers differ: no driver is a
reference for it.
"""

import subprocess
import sys

import numpy as np

FFMPEG, CLIP, FRAMES = sys.argv[1], sys.argv[2], int(sys.argv[3])
SIZE = 9
RADIUS = SIZE - 1
WIDTH, HEIGHT = 640, 360

COMMON = [FFMPEG, "-hide_banner", "-loglevel", "error"]
GPU = ["-init_hw_device", "vulkan=gpu:0", "-filter_hw_device", "gpu"]
BLUR = f"hwupload,avgblur_vulkan=sizeX={SIZE}:sizeY={SIZE},hwdownload,"


def planes(gpu, blur):
    """Y, U and V of the last frame."""
    filters = ["-vf", f"format=yuv420p,{blur}format=yuv420p"]
    command = COMMON + gpu + ["-i", CLIP, "-frames:v", str(FRAMES)] + filters + ["-f", "rawvideo", "-"]
    raw = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    sizes = [(HEIGHT, WIDTH)] + [(HEIGHT // 2, WIDTH // 2)] * 2
    frame = sum(h * w for h, w in sizes)
    if len(raw) != FRAMES * frame:
        sys.exit(f"{len(raw)} bytes of {FRAMES} frames of {frame}")
    at, found = len(raw) - frame, []
    for h, w in sizes:
        found.append(np.frombuffer(raw, np.uint8, h * w, at).reshape(h, w).astype(float))
        at += h * w
    return found


def moved(plane, y, x):
    """The plane's texel that many rows down and columns right; the edge's beyond it."""
    h, w = plane.shape
    rows = np.clip(np.arange(h) + y, 0, h - 1)
    columns = np.clip(np.arange(w) + x, 0, w - 1)
    return plane[np.ix_(rows, columns)]


def blurred(plane, y, x):
    samples = sum(moved(plane, -j, -i) for j in (0, 1) for i in (0, 1)) / 4
    box = sum(moved(samples, y * k, x * k) for k in range(-RADIUS, RADIUS + 1))
    return np.rint(box / (2 * RADIUS + 1))


for name, plain, gpu in zip("YUV", planes([], ""), planes(GPU, BLUR)):
    difference = np.abs(blurred(blurred(plain, 0, 1), 1, 0) - gpu)
    # Samples beyond the edge are of the sampler's choice, and the first pass takes them into the second.
    inner = difference[2 * SIZE : -2 * SIZE, 2 * SIZE : -2 * SIZE]
    print(f"{name} {inner.max():.0f}")
