#!/usr/bin/env python3
"""Whole runs next to what one would otherwise write or install: NumPy + SciPy svds, copt, Eigen + Spectra, and the
SoftImpute of fancyimpute. One table, one JSON.

Usage: bench/compare.py BUILD_DIR DATA_DIR OUT.json [--quick]

DATA_DIR holds u.data (MovieLens 100k), ratings.dat (MovieLens 1M) and facebook_combined.txt (ego-Facebook), plain or
.xz, itself or in folders. Every loop solves the same problem with the same width rule; what is compared is the time to
the objective that the slower-to-converge of the two ends with, so that equal answers are compared. Loops run in turns
with the program. Rows "corrective" have the program's fastest method on our side instead of the same loop.
"""

import json
import lzma
import pathlib
import subprocess
import sys
import tempfile
import time
from importlib import metadata

import numpy
import numpy_loop

# What the loops do: the width of the paper with a floor, and its steps.
RULES = ["--width", "hybrid", "--step", "open-loop"]


def open_data(folder, name):
    path = next((p for suffix in ("", ".xz") for p in sorted(folder.rglob(name + suffix))), None)
    if path is None:
        sys.exit(f"compare.py: no {name} in {folder}")
    return (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8")


def solve(program, arguments, folder):
    report = folder / "run.json"
    subprocess.run([program, *map(str, arguments), "--certificate-share", "0", "--json", report, "--quiet"], check=True)
    run = json.loads(report.read_text())
    return [line["objective"] for line in run["trace"]], [line["seconds"] for line in run["trace"]], run


def time_to(objective, seconds, target):
    """Seconds when the objective first is at most `target`."""
    for value, second in zip(objective, seconds, strict=True):
        if value <= target:
            return second
    return None


def compare(name, ours, theirs, iterations):
    """Both loops' traces: seconds for all iterations, and to the larger of the two last objectives."""
    common = max(ours[0][-1], theirs[0][-1])
    line = {
        "what": name,
        "iterations": iterations,
        "objective": ours[0][-1],
        "other_objective": theirs[0][-1],
        "seconds": ours[1][-1],
        "other_seconds": theirs[1][-1],
        "ratio": theirs[1][-1] / ours[1][-1],
        "ratio_to_equal_objective": time_to(*theirs[:2], common) / time_to(*ours[:2], common),
    }
    print(
        f"{name:<44} {iterations:>5} {line['objective']:>12.1f} {line['other_objective']:>12.1f}"
        f" {line['seconds']:>8.2f}"
        f" {line['other_seconds']:>8.2f} {line['ratio']:>7.1f} {line['ratio_to_equal_objective']:>9.1f}",
        flush=True,
    )
    return line


def ratings(folder):
    """MovieLens 1M as z-scores with indices from 0."""
    with open_data(folder, "ratings.dat") as file:
        rows, cols, values = zip(*(line.split("::")[:3] for line in file), strict=True)
    row = numpy.unique(numpy.array(rows, dtype=int), return_inverse=True)[1]
    col = numpy.unique(numpy.array(cols, dtype=int), return_inverse=True)[1]
    value = numpy.array(values, dtype=float)
    return row, col, (value - value.mean()) / value.std(ddof=1)


def copt_loop(row, col, value, shape, radius, iterations):
    """The same problem with the Huber loss for copt, which wants gradients of smooth functions of dense arrays."""
    import copt
    from copt.constraint import TraceBall

    place = row * shape[1] + col

    def huber(x):
        residual = x[place] - value
        small = numpy.abs(residual) <= 1
        gradient = numpy.zeros(x.size)
        gradient[place] = numpy.clip(residual, -1, 1)
        return numpy.where(small, residual**2 / 2, numpy.abs(residual) - 0.5).sum(), gradient

    objective, seconds, start = [], [], time.perf_counter()

    def note(state):
        objective.append(huber(state["x"])[0])
        seconds.append(time.perf_counter() - start)

    ball = TraceBall(radius, shape)
    copt.minimize_frank_wolfe(
        huber,
        numpy.zeros(shape[0] * shape[1]),
        ball.lmo,
        jac=True,
        step="backtracking",
        lipschitz=1.0,
        max_iter=iterations,
        tol=0,
        callback=note,
    )
    return objective, seconds


def completion_lines(build, data, folder, iterations):
    row, col, value = ratings(data)
    half = numpy.random.default_rng(1).random(len(row)) < 0.5
    row, col, value = row[half], col[half], value[half]
    # Every row and column keeps its number: the file lists them all.
    shape = row.max() + 1, col.max() + 1
    table = folder / "ratings.tsv"
    numpy.savetxt(table, numpy.column_stack([row, col, value]), fmt=["%d", "%d", "%.9g"], delimiter="\t")
    arguments = ["complete", table, "--prepare", "none", "--radius", 6400, "--iterations", iterations, *RULES]
    lines = []
    ours = solve(build / "tracenorm", arguments, folder)
    theirs = numpy_loop.completion(row, col, value, shape, 6400, iterations)
    again = solve(build / "tracenorm", arguments, folder)
    best = min(ours, again, key=lambda run: run[1][-1])
    lines.append(compare("ML-1M, half: NumPy + SciPy svds", best, theirs, iterations))
    fast = solve(build / "tracenorm", [*arguments[:6], "--method", "corrective", "--gap", 0.02], folder)
    lines.append(compare("ML-1M, half: NumPy loop, corrective", fast, theirs, iterations))
    smooth = [*arguments[:6], "--loss", "huber:1"]
    few = max(5, iterations // 25)
    packaged = copt_loop(row, col, value, shape, 6400, few)
    ours_smooth = solve(build / "tracenorm", [*smooth, "--iterations", iterations], folder)
    lines.append(compare("ML-1M, half, Huber: copt", ours_smooth, packaged, few))
    eigen = json.loads(
        subprocess.run(
            [build / "tracenorm_eigen_loop", table, "6400", str(iterations)], check=True, capture_output=True, text=True
        ).stdout
    )
    lines.append(compare("ML-1M, half: Eigen + Spectra", best, ([eigen["objective"]], [eigen["seconds"]]), iterations))
    return lines


def soft_impute(full, shrinkage, iterations):
    """fancyimpute's SoftImpute: half the squared loss + shrinkage * trace norm. Losses, norms, seconds by iteration."""
    from fancyimpute import SoftImpute

    observed = ~numpy.isnan(full)
    loss, norm, seconds = [], [], []

    class Noted(SoftImpute):
        def _svd_step(self, x, *arguments, **options):
            answer, rank = super()._svd_step(x, *arguments, **options)
            stopped = time.perf_counter()
            loss.append(float(((answer - full)[observed] ** 2).sum()) / 2)
            norm.append(float(numpy.linalg.norm(answer, "nuc")))
            self.noting += time.perf_counter() - stopped
            seconds.append(time.perf_counter() - self.began - self.noting)
            return answer, rank

    solver = Noted(shrinkage_value=shrinkage, max_iters=iterations, convergence_threshold=1e-5, verbose=False)
    solver.noting, solver.began = 0.0, time.perf_counter()
    solver.fit_transform(full)
    return loss, norm, seconds


def soft_impute_lines(build, data, folder, iterations):
    """The bounded problem at the trace norm that SoftImpute ends with, where its last iterate is feasible."""
    with open_data(data, "u.data") as file:
        rows, cols, values = numpy.array([line.split()[:3] for line in file], dtype=float).T
    rows, cols = rows.astype(int) - 1, cols.astype(int) - 1
    values = (values - values.mean()) / values.std(ddof=1)
    full = numpy.full((rows.max() + 1, cols.max() + 1), numpy.nan)
    full[rows, cols] = values
    loss, norm, seconds = soft_impute(full, 10, iterations)
    table = folder / "small.tsv"
    numpy.savetxt(table, numpy.column_stack([rows, cols, values]), fmt=["%d", "%d", "%.9g"], delimiter="\t")
    ours = solve(
        build / "tracenorm",
        [
            "complete",
            table,
            "--prepare",
            "none",
            "--loss",
            "squared:0.5",
            "--radius",
            norm[-1],
            "--method",
            "corrective",
            "--gap",
            0.001,
        ],
        folder,
    )
    # SoftImpute's earlier iterates are outside of the ball or above its last loss: only the last one is compared.
    return [compare("ML-100k: fancyimpute SoftImpute, corrective", ours, (loss[-1:], seconds[-1:]), len(loss))]


def adjacency(folder):
    with open_data(folder, "facebook_combined.txt") as file:
        edges = numpy.array([line.split() for line in file if not line.startswith("#")], dtype=int)
    n = edges.max() + 1
    full = numpy.zeros((n, n), dtype=numpy.float32)
    full[edges[:, 0], edges[:, 1]] = full[edges[:, 1], edges[:, 0]] = 1
    upper = numpy.triu(numpy.random.default_rng(1).random((n, n)) < 0.5)
    seen = upper | upper.T
    return numpy.where(seen, full, numpy.nan).astype(numpy.float32)


def link_lines(build, data, folder, iterations):
    y = adjacency(data)
    matrix = folder / "links.npy"
    numpy.save(matrix, y)
    arguments = [
        "denoise",
        matrix,
        "--prepare",
        "none",
        "--loss",
        "squared:1",
        "--radius",
        1052.88,
        "--l1",
        0.01,
        *RULES,
        "--iterations",
        iterations,
    ]
    ours = solve(build / "tracenorm", arguments, folder)
    theirs = numpy_loop.links(y, 1052.88, 0.01, iterations)
    again = solve(build / "tracenorm", arguments, folder)
    fast = solve(build / "tracenorm", [*arguments[:10], "--method", "corrective", "--gap", 0.02], folder)
    return [
        compare(
            "links, n = 4039: NumPy + SciPy svds", min(ours, again, key=lambda run: run[1][-1]), theirs, iterations
        ),
        compare("links, n = 4039: NumPy loop, corrective", fast, theirs, iterations),
    ]


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if len(arguments) != 3:
        sys.exit(__doc__)
    quick = "--quick" in sys.argv
    build, data = pathlib.Path(arguments[0]) / "bin", pathlib.Path(arguments[1])
    versions = {name: metadata.version(name) for name in ("numpy", "scipy", "copt", "fancyimpute")}
    print("with " + ", ".join(f"{name} {version}" for name, version in versions.items()) + "\n")
    print(
        f"{'':<44} {'iter.':>5} {'objective':>12} {'theirs':>12} {'seconds':>8} {'theirs':>8}"
        f" {'ratio':>7} {'at equal f':>9}"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = soft_impute_lines(build, data, folder, 10 if quick else 200)
        lines += completion_lines(build, data, folder, 50 if quick else 500)
        lines += link_lines(build, data, folder, 10 if quick else 1000)
    pathlib.Path(arguments[2]).write_text(json.dumps({"versions": versions, "runs": lines}, indent=1) + "\n")


if __name__ == "__main__":
    main()
