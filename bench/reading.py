#!/usr/bin/env python3
"""Reading text of ratings: this program next to a plain read of the same file, LIBMF's reader, pandas and polars, in one run.

    bench/made_up_ratings.py ratings.csv --lines 20000000
    bench/reading.py BUILD_DIR ratings.csv [--rounds 3] [--libmf mf-train] [--json OUT.json]

The program reads names into numbers, looks for entries given twice, and keeps 12 bytes an entry: its time is the phase "read" of a
run of no iterations. pandas and polars read all columns into a table and do none of that (`read_csv`, default options). LIBMF's
reader (`mf-train -t 1 -k 1`, its first iteration included) takes a copy of the file in its own format. Every reader runs in a
process of its own; each takes its turn once a round, and the best round counts. Load is that of the machine, before and after."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TABLES = {
    "pandas": "import pandas; t = time.perf_counter(); d = pandas.read_csv({file!r}, header=None)",
    "polars": "import polars; t = time.perf_counter(); d = polars.read_csv({file!r}, has_header=False)",
}
PROLOGUE = "import resource, time; "
EPILOGUE = (
    "; print(time.perf_counter() - t, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


def plain_read(file):
    """Bytes into one small buffer, again and again: the page cache's speed."""
    buffer = bytearray(1 << 20)
    start = time.perf_counter()
    with open(file, "rb", buffering=0) as source:
        while source.readinto(buffer):
            pass
    return time.perf_counter() - start, 0


def ours(program, file, threads, folder):
    report = folder / "run.json"
    subprocess.run(
        [program, "complete", file, "--radius", "1", "--prepare", "center", "--iterations", "0", "--certificate-share", "0"]
        + ["--threads", str(threads), "--json", report, "--quiet"],
        check=True,
    )
    run = json.loads(report.read_text())
    phase = next(phase for phase in run["profile"] if phase["phase"] == "read")
    return phase["seconds"], phase["peak_bytes"]


def table(name, file):
    code = PROLOGUE + TABLES[name].format(file=str(file)) + EPILOGUE
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    seconds, peak = done.stdout.split()
    return float(seconds), float(peak)


def libmf(program, text, folder):
    start = time.perf_counter()
    subprocess.run([program, "-t", "1", "-k", "1", "-q", text, folder / "model"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start, 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--libmf", type=pathlib.Path, help="its mf-train")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    program = next(p for p in (options.build / "bin/tracenorm", options.build / "tracenorm") if p.exists())
    size = options.file.stat().st_size
    with open(options.file, "rb") as source:
        lines = sum(block.count(b"\n") for block in iter(lambda: source.read(1 << 24), b""))
    best = {}
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        readers = {"plain read": lambda: plain_read(options.file)}
        for threads in sorted({1, os.cpu_count() or 1}):
            readers[f"tracenorm, {threads} thread{'s' if threads > 1 else ''}"] = lambda threads=threads: ours(
                program, options.file, threads, folder
            )
        if options.libmf:
            text = folder / "libmf.txt"
            subprocess.run(f"cut -d, -f1-3 '{options.file}' | tr ',' ' ' > '{text}'", shell=True, check=True)
            readers["LIBMF"] = lambda: libmf(options.libmf, text, folder)
        for other in TABLES:
            readers[other] = lambda other=other: table(other, options.file)
        for _ in range(options.rounds):
            for reader, run in readers.items():
                result = run()
                if result is not None and (reader not in best or result[0] < best[reader][0]):
                    best[reader] = result
    load = f"{load_before:.1f} before, {os.getloadavg()[0]:.1f} after"
    print(f"{lines / 1e6:.1f} million lines, {size / 1e9:.2f} GB, {os.cpu_count()} cores, best of {options.rounds}; load {load}\n")
    print("| reader | seconds | MB/s | of a plain read | peak bytes a line |\n|---|---|---|---|---|")
    for reader, (seconds, peak) in best.items():
        memory = f"{peak / lines:.0f}" if peak else ""
        print(
            f"| {reader} | {seconds:.2f} | {size / seconds / 1e6:.0f} | {best['plain read'][0] / seconds:.3f} | {memory} |"
        )
    if options.json:
        results = [{"reader": r, "seconds": s, "peak_bytes": p} for r, (s, p) in best.items()]
        options.json.write_text(json.dumps({"bytes": size, "lines": lines, "load": load, "readers": results}, indent=1))


if __name__ == "__main__":
    main()
