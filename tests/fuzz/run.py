#!/usr/bin/env python3
"""Runs the fuzz targets of a build, each for its share of the time, and says what came of it.

    tests/fuzz/run.py BUILD --minutes 5 [TARGET ...]
    tests/fuzz/run.py BUILD --minimize        the inputs found so far, without those that add nothing
    tests/fuzz/run.py BUILD --minutes 0       every input once, and a search for leaks
    tests/fuzz/run.py BUILD --totals          what all runs so far have come to

--executions N ends a target once all its runs together have come to N, and begins none that has. --timeout is wall
time: it wants to be long where other work goes first, or stops the fuzzing for a while.

--inputs OTHER_BUILD adds what runs of another build have found: a build without sanitizers tries more inputs in the
same time, and one with them looks at those that did something new.

A target begins with tests/fuzz/corpus/TARGET and what earlier runs found (BUILD/corpus/TARGET); a crash is left in
BUILD/crashes. Once it is mended, its input becomes a test (or a file of tests/fuzz/corpus) and stays. BUILD/totals.json
adds up executions, seconds and crashes of all runs.
"""

import argparse
import concurrent.futures
import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LIMITS = ["-rss_limit_mb=2000", "-malloc_limit_mb=600", "-print_final_stats=1"]
# Short inputs are tried more often, and what goes wrong in long ones nearly always goes wrong in short ones too. A
# target that is not here takes files of arrays, which have many parts.
LENGTHS = {
    **dict.fromkeys(["libmf", "edges"], 128),
    **dict.fromkeys(["command-line", "options"], 192),
    **dict.fromkeys(["matrix", "matrix-market", "npy", "parts", "triplets"], 384),
    **dict.fromkeys(["auto", "solve", "whole"], 512),
}
STOPPED = 72  # libFuzzer's exit code after Ctrl-C
NOTHING = {"executions": 0, "processor_seconds": 0.0, "crashes": 0}
ENVIRONMENT = {
    # A freed block is kept from use for a while, so that its use is seen: for some thousands of runs is enough.
    "ASAN_OPTIONS": "quarantine_size_mb=8:malloc_context_size=4",
    # Without sanitizers: memory stays with the process. Its pages took a third of the time of readers of archives.
    "MALLOC_MMAP_THRESHOLD_": "1000000000",
    "MALLOC_TRIM_THRESHOLD_": "2000000000",
    "MALLOC_TOP_PAD_": "67108864",
}


def run(build, target, seconds, options):
    """The target, its exit code, executions, processor seconds and log."""
    minimize = options.minimize
    found = build / "corpus" / target
    found.mkdir(parents=True, exist_ok=True)
    crashes = build / "crashes"
    crashes.mkdir(exist_ok=True)
    given = [folder / "corpus" / target for folder in (HERE, *(other.resolve() for other in options.inputs))]
    given = [folder for folder in given if folder.is_dir()]
    length = LENGTHS.get(target, 4096)
    command = [build / "bin" / f"fuzz_{target}", *LIMITS, f"-timeout={options.timeout}"]
    command.append(f"-artifact_prefix={crashes}/{target}-")
    if minimize:
        smaller = build / "corpus" / f"{target}.smaller"
        shutil.rmtree(smaller, ignore_errors=True)
        smaller.mkdir()
        command += ["-merge=1", "-detect_leaks=0", smaller, found, *given]
    elif seconds > 0:
        # Which input is changed next costs less to choose this way, and leaks are looked for in what is kept.
        command += [f"-max_total_time={seconds}", f"-max_len={length}", "-entropic=0", "-detect_leaks=0", found, *given]
        if options.executions:
            command.append(f"-runs={options.executions - totals(build).get(target, NOTHING)['executions']}")
    else:
        command += ["-runs=0", found, *given]
    dictionary = HERE / "dictionaries" / f"{target}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    log = build / f"{target}.log"
    with open(log, "w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env={**os.environ, **ENVIRONMENT})
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    code = 0 if process.returncode == STOPPED else process.returncode
    text = log.read_text(errors="replace")
    if minimize and process.returncode == 0:
        shutil.rmtree(found)
        smaller.rename(found)
    executions = re.search(r"number_of_executed_units: (\d+)", text) or re.findall(r"^#(\d+)\t", text, re.M)[-1:]
    count = int(executions[1] if isinstance(executions, re.Match) else (executions or [0])[0])
    return target, code, 0 if minimize else count, usage.ru_utime + usage.ru_stime, text


def totals(build):
    file = build / "totals.json"
    return json.loads(file.read_text()) if file.exists() else {}


def add_to_totals(build, target, code, executions, seconds):
    with open(build / "totals.lock", "w") as lock:  # runs may end at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        all_totals = totals(build)
        total = all_totals.setdefault(target, dict(NOTHING))
        total["executions"] += executions
        total["processor_seconds"] = round(total["processor_seconds"] + seconds, 1)
        total["crashes"] += code != 0
        beside = build / "totals.json.part"  # others read at any time
        beside.write_text(json.dumps(all_totals, indent=1, sort_keys=True))
        beside.replace(build / "totals.json")
    return total


def print_totals(build):
    so_far = totals(build)
    for target, total in so_far.items():
        rate = total["executions"] / max(total["processor_seconds"], 0.1)
        print(f"{target:16} {total['executions']:>12,} executions, {rate:>7,.0f} a second, {total['crashes']} crashes")
    print(f"{'all':16} {sum(total['executions'] for total in so_far.values()):>12,} executions")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--executions", type=int)
    parser.add_argument("--timeout", type=int, default=20)
    parser.add_argument("--inputs", type=pathlib.Path, action="append", default=[], metavar="OTHER_BUILD")
    parser.add_argument("--minimize", action="store_true")
    parser.add_argument("--totals", action="store_true")
    options = parser.parse_args()
    build = options.build.resolve()
    if options.totals:
        return print_totals(build)
    programs = sorted(path.name.removeprefix("fuzz_") for path in build.glob("bin/fuzz_*"))
    targets = options.targets or [name for name in programs if name != "seeds"]
    if options.executions:
        so_far = totals(build)
        targets = [name for name in targets if so_far.get(name, NOTHING)["executions"] < options.executions]
    seconds = int(60 * options.minutes * options.jobs / max(1, len(targets)))
    crashes = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(run, build, target, seconds, options) for target in targets]
        for target, code, executions, used, log in (done.result() for done in concurrent.futures.as_completed(runs)):
            total = add_to_totals(build, target, code, executions, used)
            print(
                f"{target:16} {executions:>12,} executions, {executions / max(used, 0.1):>7,.0f} a processor second, "
                f"{'no crash' if code == 0 else 'CRASH'}; {total['executions']:,} in all runs",
                flush=True,
            )
            if code != 0:
                crashes += 1
                print("\n".join(log.splitlines()[-60:]), file=sys.stderr)
    return 1 if crashes else 0


if __name__ == "__main__":
    sys.exit(main())
