#!/usr/bin/env python3
"""Runs the benchmarks of this folder; prints tables and writes one JSON.

Usage: bench/report.py BUILD_DIR OUT.json [--data DIR] [--quick]

DIR may hold ratings.tsv.xz (the Netflix tenth), ratings.dat.xz (MovieLens 1M) and facebook_combined.txt.xz, itself or
in folders; what is not there is replaced by made-up data (kernels) or left out (comparisons).
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def find(data, name):
    if data is None:
        return None
    return next((p for suffix in ("", ".xz", ".gz") for p in sorted(data.rglob(name + suffix))), None)


def kernel_report(build, data, quick):
    command = [build / "tracenorm_bench", "--repetitions", "5" if quick else "21"]
    ratings = find(data, "ratings.tsv")
    if ratings:
        command += ["--ratings", ratings]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(
        f"Passes ({report['instruction_set']} kernels; times are the best of {report['repetitions']}, "
        "ratios the median of ratios and that of the best)\n"
    )
    print(
        f"{'data':<24} {'pass':<10} {'threads':>7} {'ns/entry':>9} {'GB/s':>6} {'of a plain read':>16}"
        f" {'two threads':>16} {'times Eigen':>16}"
    )
    for line in report["passes"]:
        ratios = [
            f"{line[name]:.2f} ({line['best_' + name]:.2f})" if name in line else ""
            for name in ("share_of_read", "speedup", "times_eigen")
        ]
        print(
            f"{line['data']:<24} {line['pass']:<10} {line['threads']:>7}"
            f" {1e9 * line['seconds'] / line['entries']:>9.3f} {line['bytes'] / line['seconds'] / 1e9:>6.1f}"
            + "".join(f" {ratio:>16}" for ratio in ratios)
        )
    return report


def iteration_report(build, folder):
    """Passes per iteration of whole runs, from the program's own counters."""
    program = build / "tracenorm"
    subprocess.run([program, "generate", "completion", folder / "train.tsv", "--quiet"], check=True)
    subprocess.run([program, "generate", "covariance", folder / "noisy.npy", "--n", "750", "--quiet"], check=True)
    runs = {
        "sparse 1000 x 800": ["complete", folder / "train.tsv", "--prepare", "none", "--radius", "1985"],
        "dense 750 x 750": [
            "denoise",
            folder / "noisy.npy",
            "--radius",
            "43.92",
            "--l1",
            "0.4",
            "--loss",
            "squared:0.5",
        ],
    }
    print("\nWhole runs of 300 iterations (default options, all threads)\n")
    print(
        f"{'data':<20} {'passes/iteration':>16} {'products/iteration':>18} {'certificates':>12}"
        f" {'ns/entry and pass':>18}"
    )
    lines = []
    for name, arguments in runs.items():
        subprocess.run(
            [program, *arguments, "--iterations", "300", "--json", folder / "run.json", "--quiet"], check=True
        )
        run = json.loads((folder / "run.json").read_text())
        counters = run["counters"]
        lines.append(
            {
                "data": name,
                "passes_per_iteration": counters["passes"] / run["iterations"],
                "products_per_iteration": counters["products"] / run["iterations"],
                "certificate_share": counters["certificate_passes"] / counters["passes"],
                "ns_per_entry_and_pass": 1e9 * run["seconds"] / counters["passes"] / run["observed"],
            }
        )
        line = lines[-1]
        print(
            f"{name:<20} {line['passes_per_iteration']:>16.1f} {line['products_per_iteration']:>18.1f}"
            f" {line['certificate_share']:>12.0%} {line['ns_per_entry_and_pass']:>18.2f}"
        )
    return lines


def scaling_report(build, quick):
    """The Netflix Prize's shape and a hundredth and a tenth of its rows."""
    sizes = [(4802, 1e6), (48019, 1e7)] + ([] if quick else [(480189, 1e8)])
    print("\nScaling: ROWS x 17770, absolute loss, 20 iterations, all threads\n")
    print(
        f"{'entries':>12} {'rows':>8} {'s/iteration':>12} {'ns/entry and pass':>18} {'peak MB':>8} {'bytes/entry':>12}"
    )
    lines = []
    for rows, entries in sizes:
        command = [build / "tracenorm_scaling", rows, 17770, int(entries), 20]
        line = json.loads(subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout)
        print(
            f"{line['entries']:>12.0f} {line['rows']:>8} {line['seconds_per_iteration']:>12.4f}"
            f" {line['ns_per_entry_and_pass']:>18.3f}"
            f" {line['peak_bytes'] / 1e6:>8.0f} {line['bytes_per_entry']:>12.1f}",
            flush=True,
        )
        lines.append(line)
    return lines


def comparisons(build, data, folder, quick):
    if not (find(data, "ratings.dat") and find(data, "facebook_combined.txt")):
        print("\nComparisons with other loops: give BENCH_DATA=DIR with MovieLens 1M and ego-Facebook")
        return None
    print("\nWhole runs next to other loops\n")
    report = folder / "compare.json"
    subprocess.run(
        [sys.executable, HERE / "compare.py", build.parent, data, report] + (["--quick"] if quick else []), check=True
    )
    return json.loads(report.read_text())


def main():
    arguments = sys.argv[1:]
    quick = "--quick" in arguments
    data = pathlib.Path(arguments[arguments.index("--data") + 1]) if "--data" in arguments else None
    if len(arguments) < 2:
        sys.exit(__doc__)
    build = pathlib.Path(arguments[0]) / "bin"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        report = {
            "kernels": kernel_report(build, data, quick),
            "iterations": iteration_report(build, folder),
            "scaling": scaling_report(build, quick),
            "comparisons": comparisons(build, data, folder, quick),
        }
    pathlib.Path(arguments[1]).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
