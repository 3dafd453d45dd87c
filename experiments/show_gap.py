#!/usr/bin/env python3
"""Certified gaps: how fast the corrective method reaches them, next to the Frank-Wolfe methods.

    experiments/show_gap.py build/bin/tracenorm u.data ratings.dat facebook_combined.txt [docs/certified-gap.svg]

For each problem: 300 iterations of fwua, then the corrective method to the gap of the table, side by side in one run;
the ratio of their seconds is what counts on a machine with other work: of whole solves, and of the iterations alone
(without the compression of the answer at the end, which 300 terms make long). With a picture as the last argument also
rdfw and hcgs are run, and the certified gap is drawn against seconds (needs matplotlib).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

SPLIT = ["--split", "0.5,0.25,0.25", "--seed", "1"]


def run(program, folder, *arguments):
    out = Path(folder, "run.json")
    subprocess.run(
        [program, *map(str, arguments), "--quiet", "--json", str(out)], check=True, stdout=subprocess.DEVNULL
    )
    return json.loads(out.read_text())


def covariance(program, folder, side):
    """The problem of the paper, its radius the trace norm of GenFB's answer."""
    data = Path(folder, "covariance.npy")
    subprocess.run([program, "generate", "covariance", str(data), "--n", str(side), "--seed", "1", "-q"], check=True)
    problem = ["denoise", data, "--prepare", "none", "--loss", "squared:0.5", "--l1", "0.4"]
    exact = run(
        program,
        folder,
        *problem,
        "--method",
        "genfb",
        "--trace-penalty",
        "10",
        "--tolerance",
        "1e-7",
        "--iterations",
        "3000",
    )
    return [*problem, "--radius", repr(exact["trace_norm"])]


def draw(picture, curves):
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 7.5))
    for panel, (problem, methods) in zip(axes.flat, curves.items(), strict=False):
        for name, trace in methods.items():
            points = [(step["seconds"], step["relative_gap"]) for step in trace if step["relative_gap"]]
            panel.plot(
                *zip(*points, strict=True), label=name, marker="o" if name == "corrective" else None, markersize=3
            )
        panel.set(title=problem, xlabel="seconds", ylabel="certified relative gap", xscale="log", yscale="log")
        panel.grid(alpha=0.3)
    axes.flat[0].legend()
    figure.tight_layout()
    figure.savefig(picture, metadata={"Date": None})


def main(program, ratings_100k, ratings_1m, edges, picture=None):
    with tempfile.TemporaryDirectory() as folder:
        problems = {
            "ML-100k, radius 600": (["complete", ratings_100k, "--radius", 600, *SPLIT], 0.005, 1),
            "ML-100k, radius 1200": (["complete", ratings_100k, "--radius", 1200, *SPLIT], 0.01, 3),
            "ML-1M, radius 2500": (["complete", ratings_1m, "--radius", 2500, *SPLIT], 0.01, 3),
            "covariance, n = 1000": (covariance(program, folder, 1000), 0.001, 1),
            "links, radius 1052.88": (
                ["links", edges, "--radius", "1052.88", "--l1", "0.01", "--observed", "0.5"],
                0.005,
                2,
            ),
        }
        curves = {}
        print(
            f"{'problem':24s} {'300 of fwua':>22s} {'asked':>7s} {'reached':>8s} {'ratio':>6s} {'alone':>6s} "
            f"{'(most)':>6s} {'seconds':>8s} {'objective':>12s} {'rank':>5s}"
        )
        for name, (problem, gap, most) in problems.items():
            plain = run(program, folder, *problem, "--method", "fwua", "--iterations", 300)
            tight = run(program, folder, *problem, "--method", "corrective", "--gap", gap)
            ratio = tight["seconds"] / plain["seconds"]
            alone = tight["trace"][-1]["seconds"] / plain["trace"][-1]["seconds"]
            print(
                f"{name:24s} {plain['seconds']:7.2f} s, gap {100 * plain['relative_gap']:5.2f} % {100 * gap:5.1f} % "
                f"{100 * tight['relative_gap']:6.2f} % {ratio:6.2f} {alone:6.2f} {most:6d} {tight['seconds']:8.2f} "
                f"{tight['objective']:12.2f} {tight['rank']:5d}",
                flush=True,
            )
            if picture and name != "ML-100k, radius 600":
                curves[name] = {"fwua": plain["trace"], "corrective": tight["trace"]}
                for method in ("rdfw", "hcgs"):
                    curves[name][method] = run(program, folder, *problem, "--method", method, "--iterations", 300)[
                        "trace"
                    ]
        if picture:
            draw(picture, curves)


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    main(*sys.argv[1:])
