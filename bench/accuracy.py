#!/usr/bin/env python3
"""How well held-out ratings are predicted, beside packages that can be installed.

    bench/accuracy.py PROGRAM OUT.json DATA... [--seeds N] [--peers PYTHON [--only NAME]] [--quantiles]
                      [--outliers SHARE] [--picture FILE.svg]

DATA are ratings files (u.data, ratings.dat, ratings.tsv, also .xz). Each is cut 90/10 by a coin per line, a seed each;
errors are in the units of the ratings, on the test entries whose row and column are known. The program is run without
options. PYTHON is the interpreter of a virtual environment with bench/accuracy_requirements.txt; each package is tuned
on a tenth of the training part by the grid that stands below, and then fitted to all of it. The test part is looked at
once, by the numbers that are printed. Seconds are processor seconds and include the search for settings; memory is the
peak of the process. --quantiles makes intervals in another way too: the quantiles 0.05 and 0.95 of every entry, fitted
by two solves with the quantile loss. --outliers shifts a share of the training ratings by five deviations up or down;
errors are then of clean test ratings, intervals are judged on test ratings with as many outliers.
"""

import argparse
import collections
import itertools
import json
import lzma
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

FIRST_SEED = 101  # settings of the program were found on other cuts

# Fit to argv[1], predict argv[2], print predictions.
SURPRISE = """
import itertools, sys
import surprise
def read(path): return [(*line.split()[:2], float(line.split()[2])) for line in open(path)]
def trainset(rows): return surprise.Dataset(surprise.Reader(rating_scale=(1, 5))).construct_trainset([(*r, None) for r in rows])
train, test = read(sys.argv[1]), read(sys.argv[2])
held, part = train[::10], [r for k, r in enumerate(train) if k % 10]
def error(model, rows): return sum((model.predict(u, i).est - y) ** 2 for u, i, y in rows)
def make(factors, reg): return surprise.SVD(n_factors=factors, reg_all=reg, n_epochs=40, random_state=1)
best = min(itertools.product((50, 150), (0.05, 0.08, 0.12)), key=lambda g: error(make(*g).fit(trainset(part)), held))
model = make(*best).fit(trainset(train))
for u, i, _ in test: print(model.predict(u, i, clip=False).est)
print("grid", best, file=sys.stderr)
"""

LENSKIT = """
import itertools, sys
import pandas
from lenskit.algorithms.als import BiasedMF
def read(path): return pandas.read_csv(path, sep="\\t", names=["user", "item", "rating"])
train, test = read(sys.argv[1]), read(sys.argv[2])
held, part = train[::10], train.drop(train.index[::10])
def predicted(model, rows): return model.predict(rows[["user", "item"]]).fillna(train.rating.mean())
def error(g): return ((predicted(BiasedMF(g[0], reg=g[1], iterations=20, rng_spec=1).fit(part), held) - held.rating) ** 2).sum()
best = min(itertools.product((20, 50), (0.1, 0.2, 0.4)), key=error)
for value in predicted(BiasedMF(best[0], reg=best[1], iterations=20, rng_spec=1).fit(train), test): print(value)
print("grid", best, file=sys.stderr)
"""

SURPRISE_PP = (
    SURPRISE.replace("surprise.SVD(", "surprise.SVDpp(")
    .replace("(50, 150), (0.05, 0.08, 0.12)", "(20,), (0.02, 0.05)")
    .replace("n_epochs=40", "n_epochs=20")
)

FANCYIMPUTE = """
import sys
import numpy
from fancyimpute import SoftImpute
def read(path): return [line.split()[:3] for line in open(path)]
train, test = read(sys.argv[1]), read(sys.argv[2])
users, items = ({name: k for k, name in enumerate(sorted({r[c] for r in train}))} for c in (0, 1))
mean = sum(float(r[2]) for r in train) / len(train)
def fitted(rows, shrinkage):
    matrix = numpy.full((len(users), len(items)), numpy.nan)
    for u, i, y in rows: matrix[users[u], items[i]] = float(y) - mean
    return mean + SoftImpute(shrinkage_value=shrinkage, max_iters=100, verbose=False).fit_transform(matrix)
def error(filled, rows): return sum((filled[users[u], items[i]] - float(y)) ** 2 for u, i, y in rows)
held, part = train[::10], [r for k, r in enumerate(train) if k % 10]
best = min((10, 20, 30), key=lambda s: error(fitted(part, s), held))
filled = fitted(train, best)
for u, i, _ in test: print(filled[users[u], items[i]])
print("grid", best, file=sys.stderr)
"""

PEERS = {
    "scikit-surprise SVD": SURPRISE,
    "scikit-surprise SVD++": SURPRISE_PP,
    "LensKit BiasedMF": LENSKIT,
    "fancyimpute SoftImpute": FANCYIMPUTE,
}


def read(path):
    opened = lzma.open(path, "rt") if path.suffix == ".xz" else open(path, encoding="utf-8")
    with opened as file:
        return [line.replace("::", "\t").split()[:3] for line in file]


def cut(lines, seed):
    """Training and test part; test entries of unknown rows and columns are left out, and counted."""
    coin = random.Random(seed)
    parts = [[], []]
    for line in lines:
        parts[coin.random() < 0.1].append(line)
    users, items = ({line[k] for line in parts[0]} for k in (0, 1))
    known = [line for line in parts[1] if line[0] in users and line[1] in items]
    return parts[0], known, len(parts[1]) - len(known)


def shift(lines, share, seed):
    """The same with a share of the ratings shifted by five deviations."""
    coin = random.Random(seed)
    deviation = statistics.stdev(float(line[2]) for line in lines)
    moved = []
    for user, item, rating in lines:
        if coin.random() < share:
            rating = f"{float(rating) + coin.choice((-5, 5)) * deviation:.4f}"
        moved.append((user, item, rating))
    return moved


# Runs argv[2:] and writes its seconds and its memory to argv[1]. What a process is said to have had at most begins with
# what the one that started it had: so a small one has to start it.
MEASURED = """
import json, resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
json.dump([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024], open(sys.argv[1], "w"))
sys.exit(code)
"""


def run(command):
    """What it printed, its seconds of processor time, and its peak memory in MB."""
    with tempfile.NamedTemporaryFile("r") as numbers:
        words = [sys.executable, "-c", MEASURED, numbers.name, *command]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"accuracy.py: {command[0]} failed")
        return done.stdout, *json.load(numbers)


def errors(predictions, test):
    differences = [p - float(line[2]) for p, line in zip(predictions, test, strict=True)]
    return {
        "rmse": statistics.fmean(d * d for d in differences) ** 0.5,
        "mae": statistics.fmean(abs(d) for d in differences),
    }


def ours(program, files, test, alike):
    train, pairs, model = files
    _, cpu, memory = run([program, "complete", train, "--model", model, "--quiet"])
    text, _, _ = run([program, "predict", model, pairs, "--interval", "0.9", "--quiet"])
    table = [[float(field) for field in line.split("\t")[2:]] for line in text.splitlines()]
    return {
        **errors([line[0] for line in table], test),
        "cpu_seconds": cpu,
        "memory_mb": memory,
        **covered([line[1:] for line in table], train, alike),
    }


def quantiles(program, files, test, alike):
    """Intervals from one quantile to another, each the answer to a problem of its own."""
    train, pairs, model = files
    ends, cpu, memory = [], 0.0, 0.0
    for level in (0.05, 0.95):
        _, seconds, peak = run([program, "complete", train, "--loss", f"quantile:{level}", "--model", model, "--quiet"])
        text, _, _ = run([program, "predict", model, pairs, "--quiet"])
        ends.append([float(line.split("\t")[2]) for line in text.splitlines()])
        cpu, memory = cpu + seconds, max(memory, peak)
    middle = [(low + high) / 2 for low, high in zip(*ends, strict=True)]
    return {**errors(middle, test), "cpu_seconds": cpu, "memory_mb": memory, **covered(list(zip(*ends, strict=True)), train, alike)}


def covered(intervals, train, test):
    inside = [low <= float(line[2]) <= high for (low, high), line in zip(intervals, test, strict=True)]
    return {
        "width": statistics.fmean(high - low for low, high in intervals),
        "coverage": statistics.fmean(inside),
        "coverage_by_tenths": by_tenths(inside, train, test),
    }


def by_tenths(inside, train, test):
    """Shares of intervals that hold, for tenths of the test entries by how many ratings their row has in training."""
    counts = collections.Counter(line.split("\t")[0] for line in train.read_text(encoding="utf-8").splitlines())
    order = sorted(range(len(test)), key=lambda e: counts[test[e][0]])
    cuts = [len(order) * k // 10 for k in range(11)]
    return [statistics.fmean(inside[e] for e in order[a:b]) for a, b in itertools.pairwise(cuts)]


def theirs(python, code, files, test):
    text, cpu, memory = run([python, "-c", code, files[0], files[1]])
    return {**errors([float(line) for line in text.splitlines()], test), "cpu_seconds": cpu, "memory_mb": memory}


def measure(options, path, results):
    lines = read(path)
    for seed in range(FIRST_SEED, FIRST_SEED + options.seeds):
        train, test, unknown = cut(lines, seed)
        train, alike = shift(train, options.outliers, seed), shift(test, options.outliers, -seed)
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder, name) for name in ("train.tsv", "test.tsv", "model.npz")]
            for file, part in zip(files, (train, test), strict=False):
                file.write_text("".join("\t".join(line) + "\n" for line in part), encoding="utf-8")
            found = {"tracenorm": ours(options.program, files, test, alike)}
            if options.quantiles:
                found["tracenorm, quantile loss twice"] = quantiles(options.program, files, test, alike)
            for name, code in PEERS.items() if options.peers else ():
                if options.only not in name:
                    continue
                found[name] = theirs(options.peers, code, files, test)
        for name, numbers in found.items():
            results.append({"data": path.name, "seed": seed, "unknown": unknown, "what": name, **numbers})
            print(json.dumps(results[-1]), flush=True)


def table(results):
    """One line for each data set and package: means over the seeds."""
    lines = ["| data | | RMSE | MAE | processor seconds | MB | inside 90 % intervals (tenths by ratings of a row) |", "|---|---|---|---|---|---|---|"]
    for data, what in dict.fromkeys((one["data"], one["what"]) for one in results):
        runs = [one for one in results if (one["data"], one["what"]) == (data, what)]
        mean = {key: statistics.fmean(one[key] for one in runs) for key in runs[0] if isinstance(runs[0][key], float)}
        spread = statistics.stdev(one["rmse"] for one in runs) if len(runs) > 1 else 0.0
        inside = ""
        if "coverage" in mean:
            tenths = [statistics.fmean(one["coverage_by_tenths"][k] for one in runs) for k in range(10)]
            inside = f"{mean['coverage']:.1%} ({min(tenths):.1%} to {max(tenths):.1%}), width {mean['width']:.2f}"
        lines.append(f"| {data}, {len(runs)} cuts | {what} | {mean['rmse']:.4f} ± {spread:.4f} | {mean['mae']:.4f} "
                     f"| {mean['cpu_seconds']:.1f} | {mean['memory_mb']:.0f} | {inside} |")  # fmt: skip
    return "\n".join(lines) + "\n"


def picture(results, path):
    """Errors over processor seconds, a mark for each run."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "tracenorm"  # the same bytes every time
    from matplotlib import pyplot

    names = list(dict.fromkeys(one["data"] for one in results))
    figure, axes = pyplot.subplots(1, len(names), figsize=(5 * len(names), 3.4), squeeze=False)
    for axis, data in zip(axes[0], names, strict=True):
        of_data = [one for one in results if one["data"] == data]
        for what in dict.fromkeys(one["what"] for one in of_data):
            runs = [one for one in of_data if one["what"] == what]
            axis.plot([one["cpu_seconds"] for one in runs], [one["rmse"] for one in runs], "o", label=what, alpha=0.8)
        axis.set(xlabel="processor seconds, search for settings included", ylabel="RMSE", title=data)
        axis.set_xlim(left=0)
        axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path, nargs="+")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--peers", help="an interpreter with the packages to compare with")
    parser.add_argument("--only", default="", metavar="NAME", help="packages whose name has this in it")
    parser.add_argument("--quantiles", action="store_true", help="intervals by the quantile loss, solved twice, too")
    parser.add_argument("--outliers", type=float, default=0.0, metavar="SHARE", help="of the training ratings, shifted")
    parser.add_argument("--picture", help="FILE.svg: errors over seconds")
    options = parser.parse_args()
    results = []
    for path in options.data:
        measure(options, path, results)
    options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table(results))
    if options.picture:
        picture(results, options.picture)


if __name__ == "__main__":
    main()
