"""Runs the program's own commands, and makes of a report what the log keeps."""

import ctypes
import datetime
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from . import fail
from .page import six_digits
from .pattern import compare_patterns

POINTS = 60  # of a curve: enough for a chart, and the log of a full reproduction stays at three megabytes
TRACE = ("k", "seconds", "objective", "lower_bound", "width", "rank", "validation_rmse")


class RunError(Exception):
    """A run ended without a result."""


LIBC = ctypes.CDLL(None)  # before there are threads: a child of several may not load libraries


def die_with_parent():
    """In the child: whatever ends the script, kill -9 included, ends the run that was going on (Linux: prctl)."""
    if sys.platform == "linux":
        LIBC.prctl(1, signal.SIGKILL)


class Executor:
    def __init__(self, program, work, threads=1, commit=None):
        """`work` is a folder for files that come and go, `commit` that of the program's sources."""
        self.program, self.work, self.threads, self.commit = program, work, threads, commit
        self.prepared, self.process, self.stopped = None, None, False

    def call(self, run, words, text):
        """What a command says, and its processor seconds in all threads."""
        words = [word.replace("{work}", str(self.work)) for word in words]
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            self.process = subprocess.Popen(
                [self.program, *words, "--quiet"], stdout=output, stderr=errors, preexec_fn=die_with_parent
            )
            if self.stopped:
                self.process.kill()
            _, status, usage = os.wait4(self.process.pid, 0)
            code = self.process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            errors.seek(0)
            said, message = output.read(), errors.read().partition("error: ")[2].partition("\n")[0]
        if code == 130 or self.stopped:
            raise KeyboardInterrupt
        if code == 2:
            fail(f"experiment {run.experiment['name']}: {text}: {message}")
        # 1: stopped by the limit on iterations before a gap that was asked for; the report says how far it got.
        if code not in (0, 1):
            raise RunError(message or f"exit code {code}")
        return said, usage.ru_utime + usage.ru_stime

    def stop(self):
        """Ends the command that is going on, and those that come; from any thread."""
        self.stopped = True
        if self.process is not None and self.process.returncode is None:
            self.process.kill()

    def prepare(self, run, command):
        """Makes the data of the run unless the last run had the same."""
        if self.prepared != command.prepare:
            self.prepared = None
            shutil.rmtree(self.work, ignore_errors=True)
            self.work.mkdir(parents=True)
            for words, text in command.prepare:
                self.call(run, words, text)
            self.prepared = command.prepare

    def run(self, run, command):
        self.prepare(run, command)
        model = ["--model", str(self.work / "model.npz")] if command.truth else []
        # Seconds of a processor say nothing about a device, which `auto` would take where there is one.
        backend = [] if "--backend" in command.words else ["--backend", "cpu"]
        words = [*command.words, "--threads", str(self.threads), *backend, "--json", "-", *model]
        said, spent = self.call(run, words, command.text)
        report = json.loads(said)
        for name in ("data", "model"):  # the folders of one person; the command says which data
            report["options"].pop(name, None)
        record = {
            "key": command.key, "experiment": run.experiment["name"], "case": run.case["name"],
            "method": run.method["name"], "seed": run.seed, "command": command.text,
            "prepare": [text for _, text in command.prepare], "machine": machine(), "commit": self.commit,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M"),
            "processor_seconds": round(spent, 3), "total_seconds": total_seconds(report),
            "first_below_start": first_below_start(report["trace"]),
            "result": {**report, "trace": thin(report["trace"])},
        }  # fmt: skip
        if command.truth:
            # Pictures of one seed are enough.
            record["pattern"] = compare_patterns(
                model[1], command.truth.replace("{work}", str(self.work)), pictures=run.seed == 1
            )
        return record


def total_seconds(report):
    """With a radius that was chosen: the whole path, and the last solve unless the path already had the answer."""
    if report["radius_path"] is None:
        return report["seconds"]
    had_it = report["validation"] is not None and report["options"]["gap"] is None
    return sum(step["seconds"] for step in report["radius_path"]) + (0 if had_it else report["seconds"])


def first_below_start(trace):
    """The first iteration that is better than the start; None when there is none."""
    return next((line["k"] for line in trace if line["objective"] < trace[0]["objective"]), None)


def thin(trace):
    """By columns, at about POINTS places evenly spaced on a linear axis and as many on a logarithmic one."""
    last = max(len(trace) - 1, 0)
    shares = [k / (POINTS - 1) for k in range(POINTS)]
    places = {int(place + 0.5) for share in shares for place in (share * last, (last + 1) ** share - 1)}
    lines = [trace[place] for place in sorted(places)]
    known = [name for name in TRACE if any(name in line for line in lines)]
    return {name: six_digits([line.get(name) for line in lines]) for name in known}


def machine():
    """Linux tells the processor; elsewhere the name stays unknown."""
    info = pathlib.Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    name = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "unknown processor")
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{name}, {os.cpu_count()} cores, {memory / 1e9:.0f} GB"
