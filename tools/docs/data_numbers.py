#!/usr/bin/env python3
"""Tables about real ratings, as Markdown; each takes a minute or two of a processor.

Usage: data_numbers.py accuracy|accuracy-short|halves DIR

DIR holds MovieLens 100K and 1M, as experiments/reproduce.py finds them. accuracy: errors on five cuts 90/10
(bench/accuracy.py), accuracy-short: some columns of it, of 100K alone. halves: half of the ratings for training, a
quarter each for validation and test. TRACENORM_PROGRAM names another program.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "experiments"))
from reproduction.data_sets import DataFolder

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = {"ml-100k": "MovieLens 100k", "ml-1m": "MovieLens 1M"}
PROGRAM = str(pathlib.Path(os.environ.get("TRACENORM_PROGRAM", ROOT / "build/bin/tracenorm")).resolve())


def ratings(folder, name):
    data = DataFolder(folder)
    if data.file(name) is None:
        sys.exit(f"{folder}: no {name} there; experiments/fetch.py {name} --data {folder} gets it")
    return data.path(name)


def accuracy(folder, short):
    names = {"ml-100k": "MovieLens 100k"} if short else DATA
    files = [ratings(folder, name) for name in names]
    with tempfile.TemporaryDirectory() as work:
        out = str(pathlib.Path(work) / "out.json")
        command = [sys.executable, "-B", ROOT / "bench/accuracy.py", PROGRAM, out, *files]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    header, _, *rows = [line for line in done.stdout.splitlines() if line.startswith("|")]
    titles, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in (header, *rows))
    titles[0] = "five cuts 90/10"
    chosen = [place for place, title in enumerate(titles) if not short or place < 3 or title == "processor seconds"]
    for cells, title in zip(rows, names.values(), strict=True):
        cells[:3] = [title, "tracenorm, no option", f"**{cells[2]}**"]
    for line in (titles, ["---"] * len(titles), *rows):
        yield "| " + " | ".join(line[place] for place in chosen) + " |"


def halves(folder):
    yield "| data | seed | RMSE, deviations | RMSE, stars | rank | gap |\n|---|---|---|---|---|---|"
    for name, title in DATA.items():
        path = ratings(folder, name)
        for seed in (101, 102, 103):
            words = ["complete", path, "--split", "0.5,0.25,0.25", "--seed", str(seed), "--json", "-", "--quiet"]
            run = json.loads(subprocess.run([PROGRAM, *words], check=True, capture_output=True).stdout)
            error, deviation = run["test"]["rmse"], run["options"]["train_deviation"]
            gap = f"{100 * run['relative_gap']:.2f} %"
            yield f"| {title} | seed {seed} | {error / deviation:.4f} | {error:.4f} | {run['rank']} | {gap} |"


def main():
    tables = {
        "accuracy": lambda folder: accuracy(folder, short=False),
        "accuracy-short": lambda folder: accuracy(folder, short=True),
        "halves": halves,
    }
    if len(sys.argv) != 3 or sys.argv[1] not in tables:
        sys.exit(__doc__)
    print("\n".join(tables[sys.argv[1]](pathlib.Path(sys.argv[2]))))


if __name__ == "__main__":
    main()
