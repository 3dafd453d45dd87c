#!/usr/bin/env python3
"""Ranks against threads: the same command on several numbers of ranks, with time, memory of each rank, and answers beside.

    bench/ranks.py build/bin/tracenorm DATA [--ranks 1,2,4] [--threads 1] [--weak] [--json FILE] [-- OPTIONS OF complete]

Strong scaling: the same DATA on every number of ranks. With --weak DATA is made for each number of ranks instead: DATA rows a rank.
`--mpirun "mpirun ..."` says how ranks are started. One rank is started without it: that is the program as it is.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "program"))
from program_processes import processes_of  # noqa: E402

EVERY = 0.02  # seconds between two looks at the memory


def watch(process, program, peaks):
    """The largest resident set of every process that runs the program, while it runs."""
    while process.poll() is None:
        for pid in processes_of(process.pid, program):
            try:
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            for line in status.splitlines():
                if line.startswith("VmHWM:"):
                    peaks[pid] = int(line.split()[1]) / 1024
        time.sleep(EVERY)


def measure(program, mpirun, ranks, threads, data, options, folder):
    answer = pathlib.Path(folder) / "run.json"
    command = [program, "complete", data, *options, "--threads", str(threads), "--quiet", "--json", str(answer)]
    if ranks > 1:
        command = [*mpirun, "-n", str(ranks), *command]
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    peaks = {}
    watcher = threading.Thread(target=watch, args=(process, program, peaks))
    watcher.start()
    _, errors = process.communicate()
    wall = time.monotonic() - begin
    watcher.join()
    if not answer.exists():
        sys.exit(f"ranks.py: {' '.join(command)} failed:\n{errors}")
    run = json.loads(answer.read_text())
    answer.unlink()
    phases = {line["phase"]: line["seconds"] for line in run["profile"]}
    return {
        "ranks": ranks,
        "threads": threads,
        "wall": wall,
        "solve": run["seconds"],
        "read": phases.get("read", 0),
        "iterations": run["iterations"],
        "megabytes": sorted(peaks.values(), reverse=True),
        "objective": run["objective"],
        "lower_bound": run["lower_bound"],
        "messages": run["environment"].get("messages", 0),
        "bytes_sent": run["environment"].get("bytes_sent", 0),
    }


def made(program, rows, ranks, folder):
    """Data with that many rows for each rank."""
    path = pathlib.Path(folder) / f"made{ranks}.tsv"
    if not path.exists():
        subprocess.run([program, "generate", "completion", str(path), "--rows", str(rows * ranks), "--quiet"], check=True)
    return str(path)


def main():
    mine, theirs = sys.argv[1:], []
    if "--" in mine:
        place = mine.index("--")
        mine, theirs = mine[:place], mine[place + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--weak", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --allow-run-as-root")
    parser.add_argument("--json")
    chosen = parser.parse_args(mine)
    options = theirs or ["--radius", "1200", "--method", "fwua", "--iterations", "100"]
    lines = []
    print("ranks threads   wall  solve   read   ms/it  MB of each rank           objective        bound  messages  MB sent")
    with tempfile.TemporaryDirectory() as folder:
        for ranks in map(int, chosen.ranks.split(",")):
            data = made(chosen.program, int(chosen.data), ranks, folder) if chosen.weak else chosen.data
            runs = [
                measure(chosen.program, shlex.split(chosen.mpirun), ranks, chosen.threads, data, options, folder)
                for _ in range(chosen.repeat)
            ]
            best = min(runs, key=lambda run: run["solve"])
            lines.append(best)
            memory = " ".join(f"{size:.0f}" for size in best["megabytes"])
            print(
                f"{ranks:5} {chosen.threads:7} {best['wall']:6.2f} {best['solve']:6.2f} {best['read']:6.2f}"
                f" {1000 * best['solve'] / max(1, best['iterations']):7.2f}  {memory:20} {best['objective']:14.6f}"
                f" {best['lower_bound']:12.5g} {best['messages']:9} {best['bytes_sent'] / 1e6:8.1f}",
                flush=True,
            )
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps(lines, indent=1) + "\n")


if __name__ == "__main__":
    main()
