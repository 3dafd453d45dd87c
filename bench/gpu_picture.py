#!/usr/bin/env python3
"""Draws what bench/gpu.py measured: seconds of the iterations, a panel a case.

    bench/gpu_picture.py RUNS.json PICTURE.svg

Needs Matplotlib."""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "tracenorm"  # the same bytes every time
from matplotlib import pyplot  # noqa: E402


def draw(rows, picture):
    cases = list(dict.fromkeys(row["case"] for row in rows))
    several = [case for case in cases if sum(row["case"] == case for row in rows) > 1]
    figure, axes = pyplot.subplots(
        len(several), 1, figsize=(7, 1.9 * len(several)), layout="constrained", squeeze=False
    )
    for axis, case in zip(axes[:, 0], several, strict=True):
        shown = [row for row in rows if row["case"] == case][::-1]
        ours = ["tab:blue" if not row["what"].startswith("PyTorch") else "tab:gray" for row in shown]
        bars = axis.barh([row["what"] for row in shown], [row["iterations_s"] for row in shown], color=ours)
        texts = [f"{row['iterations_s']:.3f} s, objective {row['objective']:.5g}" for row in shown]
        axis.bar_label(bars, texts, padding=4, fontsize=8)
        axis.set_xlim(0, 1.5 * max(row["iterations_s"] for row in shown))
        axis.set_title(case, fontsize=9, loc="left")
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    axes[-1, 0].set_xlabel("seconds", fontsize=8)
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw(json.loads(pathlib.Path(sys.argv[1]).read_text())["runs"], sys.argv[2])
