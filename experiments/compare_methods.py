#!/usr/bin/env python3
"""Runs every method on the demo problem and draws docs/methods.svg.

    python3 experiments/compare_methods.py build/bin/tracenorm docs/methods.svg

Needs matplotlib. GenFB takes smooth losses only and works on the full matrix, so it is run with the Huber loss and
shown by its recovery error alone.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

METHODS = {
    "fwua": [],
    "rdfw": [],
    "sccg": ["--mu", "0.1"],
    "hcgs": [],
    "rlrmc": ["--rank", "5"],
    "glrl": ["--rank", "5"],
}


def run(program, *arguments):
    subprocess.run([program, *arguments], check=True)


def main(program, picture):
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.tsv")
        truth = Path(folder, "truth.tsv")
        facts = Path(folder, "facts.json")
        run(
            program,
            "generate",
            "completion",
            "--rows",
            "1000",
            "--cols",
            "800",
            "--rank",
            "5",
            "--observed",
            "0.2",
            "--outliers",
            "0.1",
            "--seed",
            "1",
            "--truth",
            str(truth),
            "--json",
            str(facts),
            "--quiet",
            str(data),
        )
        radius = json.loads(facts.read_text())["trace_norm"]
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
        bars = {}
        for name, options in METHODS.items():
            out = Path(folder, f"{name}.json")
            bound = [] if name in ("rlrmc", "glrl") else ["--radius", str(radius)]
            run(
                program,
                "complete",
                str(data),
                "--prepare",
                "none",
                "--method",
                name,
                *bound,
                *options,
                "--iterations",
                "300",
                "--test",
                str(truth),
                "--quiet",
                "--json",
                str(out),
            )
            result = json.loads(out.read_text())
            trace = result["trace"]
            left.plot([max(step["seconds"], 1e-3) for step in trace], [step["objective"] for step in trace], label=name)
            bars[name] = result["test"]["rmse"]
            print(
                f"{name:8s} objective {result['objective']:12.1f}  test RMSE {result['test']['rmse']:.4f}"
                f"  rank {result['rank']:4d}  seconds {result['seconds']:.2f}"
            )
        left.set(xlabel="seconds", ylabel="objective", xscale="log", yscale="log", title="sum of absolute residuals")
        left.legend()
        right.bar(list(bars), list(bars.values()))
        right.set(ylabel="RMSE on clean unobserved entries", yscale="log", title="recovery error after 300 iterations")
        figure.tight_layout()
        figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
