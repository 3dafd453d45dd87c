#!/usr/bin/env python3
"""Ranks against threads: the same command on several numbers of ranks, with time, memory of each rank, and answers beside.

    bench/ranks.py build/bin/tracenorm DATA [--ranks 1,2,4] [--threads 1] [--weak] [--json FILE] [-- OPTIONS OF complete]
    bench/ranks.py build/bin/tracenorm 100000 --weak --ranks 1,2,4,8,16 --cols 2000 --per-row 100

Strong scaling: the same DATA on every number of ranks. With --weak DATA is a number of rows a rank, and a problem with
so many is made for each number of ranks, by these ranks, a file each. Its radius is the trace norm of the truth, unless
options say another. The column "kept" says which part of the speed of the first line is left: entries times iterations,
a second of each thread.
`--mpirun "mpirun ..."` says how ranks are started. One rank is started without it: that is the program as it is.
"""
import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "program"))
from program_processes import processes_of

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
        "observed": run["observed"],
        "objective": run["objective"],
        "lower_bound": run["lower_bound"],
        "messages": run["environment"].get("messages", 0),
        "bytes_sent": run["environment"].get("bytes_sent", 0),
    }


def made(chosen, ranks, folder):
    """Data with so many rows for each rank, made by them, and the trace norm of the truth."""
    path = pathlib.Path(folder) / f"made{ranks}"
    facts = pathlib.Path(folder) / f"made{ranks}.json"
    command = [chosen.program, "generate", "completion", str(path), "--parts", str(ranks), "--quiet"]
    command += ["--json", str(facts), "--rows", str(int(chosen.data) * ranks), "--cols", str(chosen.cols)]
    command += ["--observed", str(chosen.per_row / chosen.cols)]
    begin = time.monotonic()
    subprocess.run([*shlex.split(chosen.mpirun), "-n", str(ranks), *command] if ranks > 1 else command, check=True)
    seconds = time.monotonic() - begin
    facts = json.loads(facts.read_text())
    print(f"# {facts['rows']} x {facts['cols']}, {facts['observed']} observed, made in {seconds:.1f} s", flush=True)
    return str(path), facts["trace_norm"]


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
    parser.add_argument("--cols", type=int, default=2000, help="columns of what --weak makes")
    parser.add_argument("--per-row", type=float, default=100, help="observed entries of each of its rows, on average")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --allow-run-as-root")
    parser.add_argument("--json")
    chosen = parser.parse_args(mine)
    usual = ["--method", "fwua", "--iterations", "100"]
    lines = []
    numbers = "ranks threads   wall  solve   read   ms/it  MB of each rank           objective"
    print(numbers + "        bound  messages  MB sent   kept")
    with tempfile.TemporaryDirectory() as folder:
        for ranks in map(int, chosen.ranks.split(",")):
            data, radius = made(chosen, ranks, folder) if chosen.weak else (chosen.data, 1200)
            options = theirs if "--radius" in theirs else [*(theirs or usual), "--radius", str(radius)]
            if "--backend" not in options:  # one process would take a device by itself, several cannot
                options = [*options, "--backend", "cpu"]
            runs = [
                measure(chosen.program, shlex.split(chosen.mpirun), ranks, chosen.threads, data, options, folder)
                for _ in range(chosen.repeat)
            ]
            if chosen.weak:
                shutil.rmtree(data)  # the next one is larger still
            best = min(runs, key=lambda run: run["solve"])
            best["speed"] = best["iterations"] * best["observed"] / (ranks * chosen.threads * best["solve"])
            lines.append(best)
            memory = " ".join(f"{size:.0f}" for size in best["megabytes"])
            print(
                f"{ranks:5} {chosen.threads:7} {best['wall']:6.2f} {best['solve']:6.2f} {best['read']:6.2f}"
                f" {1000 * best['solve'] / max(1, best['iterations']):7.2f}  {memory:20} {best['objective']:14.6f}"
                f" {best['lower_bound']:12.5g} {best['messages']:9} {best['bytes_sent'] / 1e6:8.1f}"
                f" {best['speed'] / lines[0]['speed']:6.2f}",
                flush=True,
            )
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps(lines, indent=1) + "\n")


if __name__ == "__main__":
    main()
