"""Drawn faces with something in front of them, cleaned.

    python examples/python/faces.py [FOLDER FOR THE PICTURE]

Faces of one kind, seen from one place, are sums of few pictures: here a head, eyes, brows, a mouth and light from
several sides, mixed anew for each of 80. As the rows of a matrix they are of low rank, whatever the pictures are. Bars
and patches cover a part of each; nobody says where. With the absolute loss what is covered is taken from the other
faces; the squared loss mixes it in.
"""

import pathlib
import sys

import matplotlib
import numpy as np

import tracenorm

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SIDE, FACES, SHOWN = 32, 80, 6


def parts():
    """What faces are made of, each as an image."""
    y, x = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]

    def spot(across, down, width, height):
        return np.exp(-(((np.abs(x) if across else x) - across) ** 2 / width**2) - (y - down) ** 2 / height**2)

    head = 1 / (1 + np.exp(12 * (np.hypot(x / 0.75, y / 0.95) - 0.9)))
    features = [
        spot(0.3, -0.2, 0.12, 0.08),  # eyes
        spot(0.3, -0.4, 0.2, 0.05),  # brows
        spot(0, 0.1, 0.08, 0.2),  # nose
        spot(0, 0.5, 0.3, 0.07),  # mouth
    ]
    light = [head * x, head * y, head * x * y]
    return head, np.array([*features, *light])


def draw(rng):
    """The faces, and the same with something in front of them."""
    head, pieces = parts()
    mixture = np.hstack([-0.25 + 0.1 * rng.standard_normal((FACES, 4)), 0.12 * rng.standard_normal((FACES, 3))])
    faces = np.clip(0.75 * head + np.tensordot(mixture, pieces, axes=1), 0, 1)
    covered = faces.copy()
    for face in covered:
        for _ in range(3):
            high, wide = rng.integers(4, 13, size=2)
            top, left = rng.integers(0, SIDE - high), rng.integers(0, SIDE - wide)
            face[top : top + high, left : left + wide] = rng.integers(0, 2)
    return faces, covered


def main(folder):
    faces, covered = draw(np.random.default_rng(0))
    rows = covered.reshape(FACES, -1)
    radius = np.linalg.norm(faces.reshape(FACES, -1) - faces.mean(), "nuc")  # of the truth, which is known here
    panels = [("faces", faces), ("something in front", covered)]
    for loss in ("squared", "absolute"):
        result = tracenorm.solve(rows, loss=loss, radius=radius, prepare="center", gap=0.01, iterations=500)
        clean = np.clip(result.to_dense().reshape(faces.shape), 0, 1)
        error = np.sqrt(np.mean((clean - faces) ** 2))
        print(f"{loss:8} loss: error {error:.3f} a pixel, rank {result.rank}, certified gap {result.relative_gap:.1%}")
        panels.append((f"{loss} loss: error {error:.3f}", clean))
    figure, axes = plt.subplots(4, SHOWN, figsize=(SHOWN, 4.6), constrained_layout=True)
    for (title, images), line in zip(panels, axes, strict=True):
        for image, axis in zip(images, line, strict=False):
            axis.imshow(image, cmap="gray", vmin=0, vmax=1)
            axis.axis("off")
        line[0].set_title(title, fontsize=9, loc="left")
    figure.savefig(pathlib.Path(folder) / "python-faces.png", dpi=75)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
