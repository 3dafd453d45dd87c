#!/usr/bin/env python3
"""Runs the fuzz targets of a build, each for its share of the time, and says what came of it.

    tests/fuzz/run.py BUILD --minutes 5 [TARGET ...]

A target begins with tests/fuzz/corpus/TARGET and what earlier runs found (BUILD/corpus/TARGET); a crash is left in
BUILD/crashes. Once it is mended, its input becomes a test (or a file of tests/fuzz/corpus) and stays.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LIMITS = ["-rss_limit_mb=2000", "-malloc_limit_mb=600", "-timeout=20", "-max_len=8192", "-print_final_stats=1"]


def run(build, target, seconds):
    found = build / "corpus" / target
    found.mkdir(parents=True, exist_ok=True)
    crashes = build / "crashes"
    crashes.mkdir(exist_ok=True)
    command = [build / "bin" / f"fuzz_{target}", *LIMITS, f"-artifact_prefix={crashes}/{target}-"]
    if seconds > 0:
        command += [f"-max_total_time={seconds}", found]
    else:  # the committed inputs alone, once each
        command += ["-runs=0"]
    command += [folder for folder in [HERE / "corpus" / target] if folder.is_dir()]
    dictionary = HERE / "dictionaries" / f"{target}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    executions = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    return target, done.returncode, int(executions[1]) if executions else 0, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    build = options.build.resolve()
    programs = sorted(path.name.removeprefix("fuzz_") for path in build.glob("bin/fuzz_*"))
    targets = options.targets or [name for name in programs if name != "seeds"]
    seconds = int(60 * options.minutes * options.jobs / len(targets))
    crashes = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for target, code, executions, log in pool.map(lambda target: run(build, target, seconds), targets):
            print(f"{target:16} {executions:>12,} executions  {'no crash' if code == 0 else 'CRASH'}", flush=True)
            if code != 0:
                crashes += 1
                print("\n".join(log.splitlines()[-60:]), file=sys.stderr)
    return 1 if crashes else 0


if __name__ == "__main__":
    sys.exit(main())
