#!/usr/bin/env python3
"""Runs the kernel benchmarks and two short solves, and prints one table of each.

Usage: bench/report.py BENCHMARK_PROGRAM TRACENORM_PROGRAM

Every number is the best of the repetitions: on a machine that does other things too, the minimum is what repeats.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

REPETITIONS = 7
PASSES = ["normal", "linearize", "move"]  # in the order they are printed


def run_benchmarks(program, folder):
    report = folder / "bench.json"
    subprocess.run(
        [program, f"--benchmark_out={report}", "--benchmark_out_format=json", f"--benchmark_repetitions={REPETITIONS}",
         "--benchmark_min_time=0.05", "--benchmark_enable_random_interleaving=true"],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return json.loads(report.read_text())


def best_times(report):
    """{benchmark name: (least nanoseconds, its counters)}."""
    best = {}
    for run in report["benchmarks"]:
        if run["run_type"] != "iteration":
            continue
        name = run["run_name"].removesuffix("/real_time")
        if name not in best or run["real_time"] < best[name][0]:
            best[name] = (run["real_time"], run)
    return best


def print_passes(report):
    print(f"Passes over the data ({report['context']['instruction_set']} kernels; the best of {REPETITIONS} repetitions)\n")
    print(f"{'data':<20} {'pass':<10} {'threads':>7} {'ns/entry':>9} {'GB/s':>7} {'plain read GB/s':>16} {'share':>6}")
    best = best_times(report)
    passes = [name.split("/") for name in best if ":read/" not in name]
    for data, what, threads in sorted(passes, key=lambda p: (p[0].startswith("dense"), p[0], PASSES.index(p[1]), p[2])):
        nanoseconds, run = best[f"{data}/{what}/{threads}"]
        read_nanoseconds, _ = best[f"{data}/{what}:read/{threads}"]
        speed = run["bytes"] / nanoseconds
        read_speed = run["bytes"] / read_nanoseconds
        print(f"{data:<20} {what:<10} {run['threads']:>7.0f} {nanoseconds / run['entries']:>9.3f} {speed:>7.2f}"
              f" {read_speed:>16.2f} {speed / read_speed:>6.0%}")


def solve(program, folder, arguments):
    subprocess.run([program, *arguments, "--json", folder / "run.json", "--quiet"], check=True)
    return json.loads((folder / "run.json").read_text())


def print_iterations(program, folder):
    """Passes per iteration of whole runs, from the program's own counters."""
    subprocess.run([program, "generate", "completion", folder / "train.tsv", "--quiet"], check=True)
    subprocess.run([program, "generate", "covariance", folder / "noisy.npy", "--n", "750", "--quiet"], check=True)
    runs = {
        "sparse 1000 x 800": ["complete", folder / "train.tsv", "--prepare", "none", "--radius", "1985", "--iterations", "300"],
        "dense 750 x 750": ["denoise", folder / "noisy.npy", "--radius", "43.92", "--l1", "0.4", "--iterations", "300"],
    }
    print("\nWhole runs of 300 iterations (default options, all threads)\n")
    print(f"{'data':<20} {'passes/iteration':>16} {'products/iteration':>18} {'certificates':>12} {'ns/entry and pass':>18}")
    for name, arguments in runs.items():
        run = solve(program, folder, arguments)
        counters = run["counters"]
        iterations = run["iterations"]
        entries = run["observed"]
        print(f"{name:<20} {counters['passes'] / iterations:>16.1f} {counters['products'] / iterations:>18.1f}"
              f" {counters['certificate_passes'] / counters['passes']:>12.0%}"
              f" {1e9 * run['seconds'] / counters['passes'] / entries:>18.2f}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print_passes(run_benchmarks(sys.argv[1], folder))
        print_iterations(sys.argv[2], folder)


if __name__ == "__main__":
    main()
