#!/usr/bin/env python3
"""What threads are worth: whole runs of the program on 1, 2, 4, ... of them.

    bench/threads.py PROGRAM OUT.json FOLDER [--threads 1,2,4,8,16] [--repeat N] [--picture FILE.svg]

FOLDER holds facebook_combined.txt, ratings.dat (MovieLens 1M) and ratings.tsv (a tenth of Netflix), or some of them.
Seconds are of the solves, the least of N runs; the last column is the whole process, reading included. Objectives must
agree to the last digit whatever the threads.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

HALF = ["--split", "0.5,0.25,0.25"]
RUNS = {
    "links, 4039 nodes, 100 iterations": ["links", "facebook_combined.txt", "--radius", "1000", "--iterations", "100"],
    "ML-1M, half, 300 iterations": ["complete", "ratings.dat", *HALF, "--radius", "2500", "--iterations", "300"],
    "Netflix tenth, half, 50 iterations": ["complete", "ratings.tsv", *HALF, "--radius", "8000", "--iterations", "50"],
    "ML-1M, half, certified to 1 %": ["complete", "ratings.dat", *HALF, "--radius", "2500", "--gap", "0.01"],
    "ML-1M, everything chosen": ["complete", "ratings.dat", "--split", "0.9,0,0.1"],
}


def run(options, arguments, threads):
    command, data, *rest = arguments
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place, "run.json")
        full = [options.program.resolve(), command, options.folder / data, *rest, "--threads", str(threads)]
        begin = time.perf_counter()
        subprocess.run([*full, "--backend", "cpu", "--quiet", "--json", out], check=True)
        whole = time.perf_counter() - begin
        result = json.loads(out.read_text(encoding="utf-8"))
    seconds = result["seconds"] + sum(step["seconds"] for step in result["radius_path"] or ())
    return {"seconds": seconds, "whole": whole, "objective": result["objective"]}


def measure(options):
    results = []
    for name, arguments in RUNS.items():
        if not (options.folder / arguments[1]).exists():
            continue
        for threads in options.threads:
            runs = [run(options, arguments, threads) for _ in range(options.repeat)]
            best = {key: min(one[key] for one in runs) for key in ("seconds", "whole")}
            results.append({"run": name, "threads": threads, **best, "objective": runs[0]["objective"]})
            print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    return results


def table(results, counts):
    lines = ["| | " + " | ".join(f"{t}" for t in counts) + " threads | gain | of the whole process |"]
    lines.append("|---" * (len(counts) + 3) + "|")
    for name in dict.fromkeys(one["run"] for one in results):
        runs = [one for one in results if one["run"] == name]
        same = len({one["objective"] for one in runs}) == 1
        first, last = runs[0], runs[-1]
        cells = [f"{one['seconds']:.3g}" for one in runs]
        gains = [f"{first[key] / last[key]:.1f}" for key in ("seconds", "whole")]
        lines.append("| " + " | ".join([name + ("" if same else " (OBJECTIVES DIFFER)"), *cells, *gains]) + " |")
    return "\n".join(lines)


def picture(results, path):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "tracenorm"  # the same bytes every time
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(6, 4))
    for name in dict.fromkeys(one["run"] for one in results):
        runs = [one for one in results if one["run"] == name]
        axis.plot([one["threads"] for one in runs], [runs[0]["seconds"] / one["seconds"] for one in runs], "o-", label=name)
    most = max(one["threads"] for one in results)
    axis.plot([1, most], [1, most], "k:", linewidth=1)
    axis.set(xlabel="threads", ylabel="times as fast as on one", xscale="log", yscale="log")
    axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--threads", type=lambda text: [int(t) for t in text.split(",")], default=[1, 2, 4, 8, 16])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--picture", help="FILE.svg: gains over threads")
    options = parser.parse_args()
    results = measure(options)
    if not results:
        raise SystemExit(f"threads.py: {options.folder} has none of the files; see --help")
    options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table(results, options.threads))
    if options.picture:
        picture(results, options.picture)


if __name__ == "__main__":
    main()
