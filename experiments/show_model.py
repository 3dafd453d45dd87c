#!/usr/bin/env python3
"""Offsets, a weighted trace norm and a radius that chooses itself, measured: five seeds, all chosen on validation.

    experiments/show_model.py PROGRAM DATA... [--seeds N] [--robust] [--json FILE]

DATA are ratings files (u.data, ratings.dat, also compressed). Each is cut 50/25/25 by the seed; the program is run with
no option but the split, and with the absolute loss. Errors are in deviations of the training ratings ("z-units").

--robust runs the study of outliers instead: a share of the training entries is shifted by +-5 deviations, validation
and test stay clean; automatic, absolute and squared loss.
"""

import argparse
import json
import lzma
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np


def run(program, *arguments):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([program, "complete", *map(str, arguments), "--quiet", "--json", file.name], check=True)
        return json.load(open(file.name, encoding="utf-8"))


def read_ratings(path):
    """Row, column and value of MovieLens files, ids as they are."""
    with lzma.open(path, "rt") if path.suffix == ".xz" else path.open(encoding="utf-8") as file:
        lines = [line.replace("::", "\t").split()[:3] for line in file]
    table = np.array(lines, dtype=float)
    return table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2]


def show(title, runs, results):
    """One line of the table: means and deviations over the seeds."""
    z_rmse = [one["z_rmse"] for one in runs]
    z_mae = [one["z_mae"] for one in runs]
    deviation = statistics.stdev(z_rmse) if len(runs) > 1 else 0.0
    seconds = statistics.mean(one["seconds"] for one in runs)
    radii = ", ".join(f"{one['radius']:.0f}" for one in runs)
    print(
        f"| {title} | {statistics.mean(z_rmse):.4f} ± {deviation:.4f} | {statistics.mean(z_mae):.4f} | {seconds:.1f} "
        f"| {radii} |",
        flush=True,
    )
    results.append({"title": title, "runs": runs})


def facts(result, unit):
    path = result["radius_path"] or []
    return {
        "z_rmse": result["test"]["rmse"] / unit, "z_mae": result["test"]["mae"] / unit, "radius": result["radius"],
        "relative_gap": result["relative_gap"], "iterations": sum(step["iterations"] for step in path),
        "passes": sum(step["passes"] for step in path), "seconds": sum(step["seconds"] for step in path),
    }  # fmt: skip


def clean(program, path, seeds, results):
    for title, options in ((f"{path.name}, no option", []), (f"{path.name}, --loss absolute", ["--loss", "absolute"])):
        runs = []
        for seed in seeds:
            split = ["--split", "0.5,0.25,0.25", "--seed", seed]
            # The unit of the protocol: the deviation of the training ratings, outliers or not.
            unit = run(program, path, *split, "--radius", 1, "--iterations", 1)["preparation"]["scale"]
            runs.append(facts(run(program, path, *split, *options), unit))
        show(title, runs, results)


def robust(program, path, seeds, results):
    row, col, value = read_ratings(path)
    for share in (0, 0.05, 0.1, 0.2):
        all_runs = {"automatic": [], "absolute": [], "squared": []}
        for seed in seeds:
            random = np.random.default_rng(seed)
            order = random.permutation(value.size)
            train, valid, test = np.split(order, [value.size // 2, value.size * 3 // 4])
            z = (value - value[train].mean()) / value[train].std(ddof=1)
            hit = random.choice(train, int(share * train.size), replace=False)
            shifted = z.copy()
            shifted[hit] += 5 * random.choice([-1, 1], hit.size)
            with tempfile.TemporaryDirectory() as folder:
                files = [pathlib.Path(folder, name) for name in ("train.tsv", "valid.tsv", "test.tsv")]
                for file, part, values in zip(files, (train, valid, test), (shifted, z, z), strict=True):
                    np.savetxt(file, np.column_stack([row[part], col[part], values[part]]), fmt="%d\t%d\t%.7g")
                for loss, runs in all_runs.items():
                    options = [] if loss == "automatic" else ["--loss", loss]
                    held_out = ["--validation", files[1], "--test", files[2]]
                    runs.append(facts(run(program, files[0], *held_out, "--seed", seed, *options), 1.0))
        for loss, runs in all_runs.items():
            show(f"{path.name}, {share:.0%} outliers, {loss}", runs, results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path, nargs="+")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--robust", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    results = []
    print("| what | test z-RMSE | z-MAE | seconds of the path | radii |\n|---|---|---|---|---|")
    for path in options.data:
        (robust if options.robust else clean)(options.program, path, range(1, options.seeds + 1), results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
