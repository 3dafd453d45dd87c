#!/usr/bin/env python3
"""Reading text of ratings: this library next to a plain read of the same file, LIBMF's reader, pandas and polars, in one run.

    bench/made_up_ratings.py ratings.csv --lines 10000000
    bench/reading.py BUILD_DIR ratings.csv [--rounds 3] [--libmf mf-train] [--json OUT.json]

The library (`tracenorm_reading`) turns names into numbers, looks for entries given twice, and keeps 12 bytes an entry; pandas and
polars read all columns into a table and do none of that (`read_csv`, default options). LIBMF's reader (`mf-train -t 1 -k 1`, its
first iteration included) takes a copy of the file in its own format. Every reader runs in a process of its own; each takes its turn
once a round. The best round counts, by the clock and by processor time, which says more on a machine with other work."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TABLES = {
    "pandas": "import pandas; t, p = time.perf_counter(), time.process_time(); d = pandas.read_csv({file!r}, header=None)",
    "polars": "import polars; t, p = time.perf_counter(), time.process_time(); d = polars.read_csv({file!r}, has_header=False)",
}
PROLOGUE = "import resource, time; "
EPILOGUE = (
    "; print(time.perf_counter() - t, time.process_time() - p, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)

# Every reader returns seconds, processor seconds, and peak bytes (None: not known).


def plain_read(file):
    """Bytes into one small buffer, again and again: the page cache's speed."""
    buffer = bytearray(1 << 20)
    start, processor = time.perf_counter(), time.process_time()
    with open(file, "rb", buffering=0) as source:
        while source.readinto(buffer):
            pass
    return time.perf_counter() - start, time.process_time() - processor, None


def ours(program, file, threads):
    done = subprocess.run([program, file, str(threads)], check=True, capture_output=True, text=True)
    steps = json.loads(done.stdout)
    read = steps["read"]
    return read["seconds"], read["processor_seconds"], read["peak_bytes"]


def table(name, file):
    code = PROLOGUE + TABLES[name].format(file=str(file)) + EPILOGUE
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return tuple(map(float, done.stdout.split())) if done.returncode == 0 else None


def libmf(program, text, folder):
    start, before = time.perf_counter(), os.times()
    subprocess.run([program, "-t", "1", "-k", "1", "-q", text, folder / "model"], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, used, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--libmf", type=pathlib.Path, help="its mf-train")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    program = next(p for p in (options.build / name / "tracenorm_reading" for name in ("bin", ".")) if p.exists())
    size = options.file.stat().st_size
    with open(options.file, "rb") as source:
        lines = sum(block.count(b"\n") for block in iter(lambda: source.read(1 << 24), b""))
    rounds = {}
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        readers = {"plain read": lambda: plain_read(options.file)}
        for threads in sorted({1, os.cpu_count() or 1}):
            label = f"tracenorm, {threads} thread{'s' if threads > 1 else ''}"
            readers[label] = lambda threads=threads: ours(program, options.file, threads)
        if options.libmf:
            text = folder / "libmf.txt"
            subprocess.run(f"cut -d, -f1-3 '{options.file}' | tr ',' ' ' > '{text}'", shell=True, check=True)
            readers["LIBMF"] = lambda: libmf(options.libmf, text, folder)
        for other in TABLES:
            readers[other] = lambda other=other: table(other, options.file)
        for _ in range(options.rounds):
            for reader, run in readers.items():
                result = run()
                if result is not None:
                    rounds.setdefault(reader, []).append(result)
    load = f"{load_before:.1f} before, {os.getloadavg()[0]:.1f} after"
    print(f"{lines / 1e6:.1f} million lines, {size / 1e9:.2f} GB, {os.cpu_count()} cores, best of {options.rounds}; load {load}\n")
    print("| reader | seconds | MB/s | processor seconds | MB a processor second | peak bytes a line |\n|---|---|---|---|---|---|")
    results = []
    for reader, measured in rounds.items():
        seconds, processor = (min(one[k] for one in measured) for k in (0, 1))
        peak = measured[0][2]
        memory = f"{peak / lines:.0f}" if peak else ""
        print(
            f"| {reader} | {seconds:.2f} | {size / seconds / 1e6:.0f} | {processor:.2f} | {size / processor / 1e6:.0f} | {memory} |"
        )
        results.append({"reader": reader, "seconds": seconds, "processor_seconds": processor, "peak_bytes": peak})
    if options.json:
        options.json.write_text(json.dumps({"bytes": size, "lines": lines, "load": load, "readers": results}, indent=1))


if __name__ == "__main__":
    main()
