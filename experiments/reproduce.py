#!/usr/bin/env python3
"""The paper's experiments, run again and held against its numbers.

    experiments/reproduce.py all --data DIR --out results --quick
    experiments/reproduce.py all --data DIR --out results --resume
    experiments/reproduce.py links --data DIR --out results --methods fwua,genfb --seeds 1

Runs commands of the program build/bin/tracenorm. Writes index.html (the page), results.md (its tables) and runs.jsonl
(every finished run, one JSON object a line) to the folder --out. What was interrupted goes on with --resume: finished
runs are not done again. --page-only makes the page of the finished runs, and needs neither data nor program.

The data sets are found in the folder --data as published, also inside the publisher's zip or compressed (.gz, .xz);
experiments/fetch.py gets them. Without them the synthetic experiments are run, and the page says what is missing.

Exit codes: 0 all runs finished, 2 usage, 3 bad input, 4 a run failed (the others are there), 130 interrupted.
"""

import argparse
import concurrent.futures
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
from concurrent.futures import FIRST_COMPLETED

from reproduction import EXPERIMENTS, fail
from reproduction.data_sets import DataFolder, RecordedData
from reproduction.declaration import load_experiment
from reproduction.execute import Executor, RunError
from reproduction.log import Log
from reproduction.plan import Plan, UnfinishedError
from reproduction.results import CaseResults, number_text
from reproduction.sections import reproduction_page

DECLARED = ("covariance", "links", "movielens", "robustness", "figures")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("name", metavar="NAME", help="covariance, links, movielens, robustness, figures or all")
    add("--data", type=pathlib.Path, metavar="DIR", help="folder with the data sets (default: none)")
    add("--out", type=pathlib.Path, required=True, metavar="DIR", help="folder for the page and the results")
    add("--seeds", type=int, metavar="N", help="seeds 1 to N for every method (default: as declared)")
    add("--methods", default="", metavar="NAME,...", help="only these, and what they take numbers from")
    add("--quick", action="store_true", help="small sizes, few iterations, one seed: under two minutes in all")
    add("--resume", action="store_true", help="go on in a folder that holds finished runs")
    add("--page-only", action="store_true", help="run nothing; make the page of the runs that are finished")
    add("--declaration", type=pathlib.Path, metavar="FILE.json", help="an experiment of your own, or a changed one")
    add("--program", type=pathlib.Path, metavar="FILE", help="the program to run (default: build/bin/tracenorm)")
    add("--threads", type=int, default=1, metavar="N", help="0: all cores (default: 1, whose seconds can be compared)")
    add("--jobs", type=int, default=1, metavar="N", help="runs side by side; wall seconds then say little (1)")
    add("--quiet", "-q", action="store_true", help="no progress, no notes, no summary")
    options = parser.parse_args()
    if options.seeds is not None and options.seeds < 1:
        parser.error(f"--seeds is {options.seeds}; a whole number from 1 was expected")
    if options.jobs < 1:
        parser.error(f"--jobs is {options.jobs}; a whole number from 1 was expected")
    options.methods = [name for name in options.methods.split(",") if name]
    return options


def chosen_experiments(options):
    """Those that were asked for; one from a file replaces its namesake or joins them."""
    experiments = {name: load_experiment(EXPERIMENTS / f"{name}.json", options.quick) for name in DECLARED}
    if options.declaration:
        own = load_experiment(options.declaration, options.quick)
        experiments[own["name"]] = own
    if options.name != "all" and options.name not in experiments:
        fail(f"NAME is '{options.name}'; one of {', '.join(experiments)} or all was expected", code=2)
    some = list(experiments.values()) if options.name == "all" else [experiments[options.name]]
    known = list(dict.fromkeys(method["name"] for experiment in some for method in experiment["methods"]))
    for name in options.methods:
        if name not in known:
            fail(f"--methods has '{name}'; some of {', '.join(known)} were expected", code=2)
    return some


def find_program(given):
    """(path, version)"""
    program = given or EXPERIMENTS.parent / "build" / "bin" / "tracenorm"
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        fail(f"cannot run '{program}' ({error}): `make build` makes it, --program names another")
    return program.resolve(), answer.stdout.split()[-1]


def sources_commit(program):
    """The last commit that changed what the program is made of, in the repository in whose build folder it lies; None
    where there is none."""
    made_of = [f":/{name}" for name in ("src", "include", "apps", "cmake", "CMakeLists.txt")]
    git = ["git", "-C", program.parent]
    try:
        last = subprocess.run([*git, "log", "-1", "--format=%h", "--", *made_of], capture_output=True, text=True)
        changed = subprocess.run([*git, "status", "--porcelain", "--", *made_of], capture_output=True, text=True)
    except OSError:
        return None
    return (last.stdout.strip() + ("+changes" if changed.stdout else "")) or None


def require_one_program(runs, version, commit):
    """Numbers of different programs do not belong in one table: those of an experiment."""
    for run in runs:
        if run["result"]["environment"]["version"] == version and commit and run["commit"] not in (None, commit):
            fail(
                f"--out: the finished runs of {run['experiment']} are of a program of commit {run['commit']}, this one "
                f"is of {commit}: "
                "check that one out in a folder of its own, build it there and name it by --program, or give another "
                "folder",
                code=2,
            )


def lock(folder):
    """Until the script ends, however it ends, nobody else works in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        fcntl.flock(os.open(folder, os.O_RDONLY | os.O_DIRECTORY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fail(f"--out: another reproduction is at work in '{folder}'; wait for it, or give another folder")


def command_line(options):
    """As it should be typed again."""
    parts = ["experiments/reproduce.py", options.name, *(["--data DATA"] if options.data else []), "--out OUT"]
    parts += [f"--seeds {options.seeds}"] if options.seeds else []
    parts += [f"--methods {','.join(options.methods)}"] if options.methods else []
    return " ".join([*parts, *(["--quick"] if options.quick else [])])


class Reproduction:
    def __init__(self, options, experiments, log):
        self.options, self.experiments, self.log = options, experiments, log
        self.work = options.out / "work"
        self.executors, self.failures = [], []
        if options.page_only:
            data = DataFolder(options.data) if options.data else RecordedData(options.out / "data.json")
            version = log.last_version() or find_program(options.program)[1]
        else:
            program, version = find_program(options.program)
            data, commit = DataFolder(options.data), sources_commit(program)
            for experiment in experiments:
                own = [run for run in log.runs.values() if run["experiment"] == experiment["name"]]
                require_one_program(own, version, commit)
            RecordedData(options.out / "data.json").add(data)
            folders = [self.work / str(job) for job in range(options.jobs)]
            self.executors = [Executor(program, folder, options.threads, commit) for folder in folders]
        self.plan = Plan(version, data, log, options.seeds, options.methods)

    def note(self, text):
        if not self.options.quiet:
            print(text, file=sys.stderr)

    def run(self):
        """The exit code."""
        try:
            for experiment in [] if self.options.page_only else self.experiments:
                self.run_experiment(experiment)
                self.write_page()  # after every experiment: the others may take hours
        except KeyboardInterrupt:
            self.write_page()
            self.note(f"interrupted; {len(self.log.runs)} finished runs are kept, --resume goes on with the others")
            return 130
        finally:
            shutil.rmtree(self.work, ignore_errors=True)
        self.write_page()
        if not self.options.quiet:
            for name, file in (("page", "index.html"), ("tables", "results.md"), ("runs", "runs.jsonl")):
                print(f"{name:<18} {self.options.out / file}")
        return 4 if self.failures else 0

    def run_experiment(self, experiment):
        for data in self.plan.missing(experiment):
            self.note(f"{experiment['name']}: {data['title']} is not in the data folder and is left out")
        runs = self.plan.all_runs(experiment)
        waiting = [(f"{experiment['name']} [{number}/{len(runs)}] {run}", run) for number, run in enumerate(runs, 1)]
        free, under_way = list(self.executors), {}
        with concurrent.futures.ThreadPoolExecutor(len(free)) as pool:
            try:
                while True:
                    while free and (found := self.next_run(waiting, under_way)):
                        name, run, command = found
                        executor = free.pop()
                        under_way[pool.submit(executor.run, run, command)] = name, run, command, executor
                    if not under_way:
                        break
                    # With a limit: a signal that comes just before the wait would be seen only after it.
                    for done in concurrent.futures.wait(under_way, 0.5, FIRST_COMPLETED).done:
                        name, run, _, executor = under_way.pop(done)
                        free.append(executor)
                        self.finish(name, run, done)
            except BaseException:  # an interrupt, or a declaration that is wrong
                for executor in self.executors:
                    executor.stop()
                raise
        for name, run in waiting:
            try:
                self.plan.resolve(run)
            except UnfinishedError as problem:
                self.failed(name, problem)

    def next_run(self, waiting, under_way):
        """The first one that is not done, and does not need a run that is; None where there is none for now."""
        for name, run in list(waiting):
            try:
                command = self.plan.resolve(run)
            except UnfinishedError:
                continue
            if command.key in [other.key for _, _, other, _ in under_way.values()]:
                continue
            waiting.remove((name, run))
            if not self.plan.is_done(command):
                return name, run, command
        return None

    def finish(self, name, run, done):
        try:
            record = done.result()
        except RunError as problem:
            self.failed(name, problem)
            return
        self.log.append(record)
        self.note(f"{name}: {self.result_text(run, record)}")

    def failed(self, name, problem):
        self.failures.append(f"{name}: {problem}")
        self.note(f"failed: {name}: {problem}")

    def result_text(self, run, record):
        """The first measure of a run, and its seconds."""
        measure = run.experiment["measures"][0]
        value = CaseResults(self.plan, run.experiment, run.case).measured(record, measure)
        result = [] if value is None else [f"{measure['title']} {number_text(value, measure)}"]
        return ", ".join([*result, f"{record['processor_seconds']:.3g} processor seconds"])

    def write_page(self):
        page = reproduction_page(
            self.plan, self.experiments, command_line(self.options), self.options.quick, self.failures
        )
        page.write(self.options.out)


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = parse_options()
    if options.data and not options.data.is_dir():
        fail(f"--data: '{options.data}' is not a folder")
    experiments = chosen_experiments(options)
    try:
        lock(options.out)
        log = Log(options.out / "runs.jsonl")
        if log.runs and not options.resume and not options.page_only:
            what = f"holds {len(log.runs)} finished runs; add --resume to go on with them, or give another folder"
            fail(f"--out: '{options.out}' {what}", code=2)
        sys.exit(Reproduction(options, experiments, log).run())
    except OSError as error:
        fail(f"--out: {error}")


if __name__ == "__main__":
    main()
