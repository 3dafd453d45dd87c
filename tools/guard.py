#!/usr/bin/env python3
"""Fails when a run has become more expensive by more than a tenth. No clock is used: instructions of the kernels are
counted by callgrind, passes and products by the program itself.

Usage: tools/guard.py BUILD_DIR [--write]    (--write makes today's counts the ones to compare with)
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BASELINE = pathlib.Path(__file__).with_name("guard.json")
TOLERANCE = 0.10
KERNELS = ["linearize", "conjugate", "products", "move"]
ENVIRONMENT = dict(
    os.environ, TRACENORM_ISA="avx2"
)  # callgrind knows no AVX-512, and counts must not depend on the machine


def instructions(program, name, folder):
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind.out", program, name],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def count_instructions(program, folder):
    """Of each kernel: what a run with it takes beyond one without."""
    counts = {}
    for data in ("sparse", "dense"):
        base = instructions(program, f"{data}-none", folder)
        for kernel in KERNELS:
            counts[f"instructions {data} {kernel}"] = instructions(program, f"{data}-{kernel}", folder) - base
    return counts


def count_passes(program, folder):
    generate = [program, "generate"]
    subprocess.run(
        [*generate, "completion", folder / "train.tsv", "--rows", "300", "--cols", "250", "--quiet"], check=True
    )
    subprocess.run([*generate, "covariance", folder / "noisy.npy", "--n", "150", "--quiet"], check=True)
    runs = {
        "sparse": ["complete", folder / "train.tsv", "--prepare", "none", "--radius", "600"],
        "dense": ["denoise", folder / "noisy.npy", "--radius", "10", "--l1", "0.4", "--loss", "squared:0.5"],
    }
    counts = {}
    for data, arguments in runs.items():
        report = folder / "run.json"
        subprocess.run(
            [program, *arguments, "--iterations", "200", "--threads", "1", "--json", report, "--quiet"],
            env=ENVIRONMENT,
            check=True,
        )
        run = json.loads(report.read_text())
        counts[f"passes {data}"] = round(run["counters"]["passes"])
        counts[f"products {data}"] = run["counters"]["products"]
        counts[f"objective {data}"] = round(run["objective"], 4)
    return counts


def compare(counts, baseline):
    """The names of the counts that grew too much."""
    worse = []
    for name, count in counts.items():
        before = baseline.get(name)
        change = count / before - 1 if before else float("inf")
        print(f"{name:<36} {before!s:>14} {count:>14} {change:>+8.1%}")
        if change > TOLERANCE:
            worse.append(name)
    return worse


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    programs = pathlib.Path(arguments[0]) / "bin"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        counts = count_instructions(programs / "tracenorm_guard", folder) | count_passes(programs / "tracenorm", folder)
    if "--write" in sys.argv:
        BASELINE.write_text(json.dumps(counts, indent=1) + "\n")
    worse = compare(counts, json.loads(BASELINE.read_text()))
    if worse:
        sys.exit(
            f"guard: more than {TOLERANCE:.0%} above tools/guard.json: {', '.join(worse)}\n"
            "If the cost is meant, say why in the change and run tools/guard.py BUILD_DIR --write"
        )
    print("guard: nothing became more expensive by more than a tenth")


if __name__ == "__main__":
    main()
