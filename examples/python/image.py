"""An image with missing pixels and salt-and-pepper noise, restored.

    python examples/python/image.py [FOLDER FOR THE PICTURE]

Half of the pixels are unknown; of the known ones every tenth is black or white for no reason. The small patches of a
part of an image resemble each other: as the rows of a matrix, they are nearly of low rank. So each part is cut into all
its patches, their matrix is completed with the absolute loss, and every pixel is the mean over the patches it is in.
"""

import pathlib
import sys

import matplotlib
import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_image

import tracenorm

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PATCH, PART, STEP = 6, 24, 20


def spoil(image, rng):
    """NaN where a pixel is missing."""
    spoiled = image.copy()
    pixels = image.shape[:2]
    noise = rng.random(pixels) < 0.1
    spoiled[noise] = rng.integers(0, 2, size=(noise.sum(), 1))
    spoiled[rng.random(pixels) < 0.5] = np.nan
    return spoiled


def corners(length):
    """Where the parts begin, so that they cover everything."""
    return [*range(0, length - PART, STEP), length - PART]


def restore(spoiled, loss, radius):
    total, count = np.zeros_like(spoiled), np.zeros_like(spoiled)
    gaps = []
    for top in corners(spoiled.shape[0]):
        for left in corners(spoiled.shape[1]):
            part = spoiled[top : top + PART, left : left + PART]
            patches = np.lib.stride_tricks.sliding_window_view(part, (PATCH, PATCH), axis=(0, 1))
            n = patches.shape[0]
            rows = patches.reshape(n * n, -1)  # one patch a row, NaN where a pixel is missing
            result = tracenorm.solve(rows, loss=loss, radius=radius, prepare="center", iterations=60)
            gaps.append(result.relative_gap)
            estimate = result.to_dense().reshape(patches.shape)
            for i in range(PATCH):
                for j in range(PATCH):
                    place = np.s_[top + i : top + i + n, left + j : left + j + n]
                    total[place] += estimate[..., i, j]
                    count[place] += 1
    return np.clip(total / count, 0, 1), np.median(gaps)


def quality(image, estimate):
    """Peak signal-to-noise ratio in decibels."""
    return -10 * np.log10(np.mean((image - estimate) ** 2))


def main(folder):
    image = load_sample_image("china.jpg")[70:214, 185:401] / 255.0
    spoiled = spoil(image, np.random.default_rng(0))
    panels = [("original", image), ("what is known: half, a tenth of it wrong", np.nan_to_num(spoiled, nan=0.5))]
    for loss in ("squared", "absolute"):
        estimate, gap = restore(spoiled, loss, radius=60.0)
        print(f"{loss:8} loss: {quality(image, estimate):.1f} dB, certified gap of the parts {gap:.0%} (median)")
        panels.append((f"restored, {loss} loss: {quality(image, estimate):.1f} dB", estimate))
    figure, axes = plt.subplots(2, 2, figsize=(7, 5), constrained_layout=True)
    for (title, panel), axis in zip(panels, axes.flat, strict=True):
        axis.imshow(panel, interpolation="nearest")
        axis.set_title(title, fontsize=9)
        axis.axis("off")
    path = pathlib.Path(folder) / "python-image.png"
    figure.savefig(path, dpi=75)
    Image.open(path).quantize(256).save(path, optimize=True)  # noise does not compress; fewer colours do


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
