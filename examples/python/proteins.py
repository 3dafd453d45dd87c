"""Which links of a protein network were missed, by the names of the proteins.

    python examples/python/proteins.py [FOLDER FOR THE PICTURE]

Proteins of one complex mostly touch each other. The complexes and their members are those of baker's yeast; the links
are made up: two of one complex touch with probability 0.95, two others with 0.004, the experiment misses three links in
ten and reports some that are not there. A symmetric matrix of low rank is fitted to all pairs, and what it sees between
pairs that were not reported are the links that were likely missed.
"""

import pathlib
import sys

import matplotlib
import numpy as np
from PIL import Image

import tracenorm

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COMPLEXES = {
    "proteasome core": "SCL1 PRE8 PRE9 PRE6 PUP2 PRE5 PRE10 PRE3 PUP1 PUP3 PRE1 PRE2 PRE7 PRE4",
    "proteasome cap": "RPN1 RPN2 RPN3 RPN5 RPN6 RPN7 RPN8 RPN9 RPN10 RPN11 RPN12 RPT1 RPT2 RPT3 RPT4 RPT5 RPT6",
    "RNA polymerase II": "RPB1 RPB2 RPB3 RPB4 RPB5 RPB6 RPB7 RPB8 RPB9 RPB10 RPB11 RPB12",
    "exosome": "RRP4 RRP40 RRP41 RRP42 RRP43 RRP45 RRP46 MTR3 CSL4 DIS3 RRP6",
    "nuclear pore": "NUP84 NUP85 NUP120 NUP133 NUP145 SEC13 SEH1 NUP157 NUP170 NUP188 NUP192 NIC96 NUP53 NUP59",
    "anaphase promoter": "APC1 APC2 APC4 APC5 APC9 APC11 CDC16 CDC23 CDC26 CDC27 DOC1 MND2 SWM1",
    "coatomer": "COP1 SEC26 SEC27 SEC21 RET2 SEC28 RET3",
    "chaperonin": "TCP1 CCT2 CCT3 CCT4 CCT5 CCT6 CCT7 CCT8",
}
LISTED = 14


def make_network(rng):
    """Names, complexes, which pairs touch, and which were reported to."""
    names = [name for members in COMPLEXES.values() for name in members.split()]
    group = np.repeat(np.arange(len(COMPLEXES)), [len(members.split()) for members in COMPLEXES.values()])
    together = group[:, None] == group
    draw = rng.random((3, len(names), len(names)))
    touch = np.triu(draw[0] < np.where(together, 0.95, 0.004), 1)
    reported = np.triu((touch & (draw[1] > 0.3)) | (~touch & (draw[2] < 0.004)), 1)
    return np.array(names), group, touch | touch.T, reported | reported.T


def main(folder):
    names, group, touch, reported = make_network(np.random.default_rng(5))
    seen = np.where(np.eye(len(names), dtype=bool), np.nan, reported)  # nothing is said of a protein and itself
    result = tracenorm.solve(seen, loss="squared", radius=70.0, symmetry="symmetric", gap=0.01)
    score = result.to_dense()
    a, b = np.nonzero(np.triu(~reported, 1))
    best = np.argsort(-score[a, b], kind="stable")
    a, b = a[best], b[best]
    missed = (touch & ~reported).sum() // 2
    hits = touch[a, b]
    print(f"{len(names)} proteins, {reported.sum() // 2} links reported, {missed} missed")
    print(f"of the {missed} pairs that score highest {hits[:missed].mean():.0%} are links, of all {hits.mean():.1%}")
    for k in range(5):
        print(f"  {names[a[k]]} - {names[b[k]]}  {score[a[k], b[k]]:.2f}  {'a link' if hits[k] else 'none'}")
    print(f"certified within {result.relative_gap:.1%} of the optimum")

    figure, axes = plt.subplots(1, 3, figsize=(11.2, 4.2), width_ratios=[1, 1, 0.75], constrained_layout=True)
    places = [np.mean(np.nonzero(group == g)[0]) for g in range(len(COMPLEXES))]
    for axis, title, matrix in (
        (axes[0], "links as reported", reported),
        (axes[1], "what the fit sees", score),
    ):
        axis.imshow(matrix, cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
        axis.set_title(title, fontsize=9)
        axis.set_xticks([])
        axis.set_yticks(places if axis is axes[0] else [], COMPLEXES if axis is axes[0] else [], fontsize=7)
    colours = np.where(hits[:LISTED], "#2b6cb0", "#c05621")
    axes[2].barh(np.arange(LISTED), score[a, b][:LISTED], color=colours)
    labels = [f"{names[i]} - {names[j]}" for i, j in zip(a[:LISTED], b[:LISTED], strict=True)]
    axes[2].set_yticks(np.arange(LISTED), labels, fontsize=7)
    axes[2].invert_yaxis()
    axes[2].tick_params(axis="x", labelsize=7)
    axes[2].set_title("most likely missed (orange: wrong)", fontsize=9)
    path = pathlib.Path(folder) / "python-proteins.png"
    figure.savefig(path, dpi=80)
    Image.open(path).quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
