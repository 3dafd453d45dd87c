#!/usr/bin/env python3
"""Solves, predicts, interrupts and resumes with faults injected, and compares every end with the undisturbed one.

    tests/soak.py PROGRAM FAULTS_LIBRARY --minutes 60
    tests/soak.py PROGRAM FAULTS_LIBRARY --only kill --rounds 100

What may happen to a run: `kill` (SIGKILL at a random moment, then resumed, and maybe killed again), `stop` (SIGTERM,
SIGINT or SIGHUP, then resumed), `full` (the disk is full from a random write on), `slow` (short and interrupted
writes). Prints how often each was tried and what came of it; exit code 1 and the folder are left where an end differs.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy

OFTEN = ["--checkpoint-every", "0", "--checkpoint-passes", "100", "--checkpoint", "run.ckpt"]
COMMANDS = {
    "fwua": ["complete", "ratings.tsv", "--radius", "100", "--iterations", "800", "--method", "fwua"],
    "rdfw": ["complete", "ratings.tsv", "--radius", "100", "--iterations", "150", "--method", "rdfw"],
    "corrective": ["complete", "ratings.tsv", "--radius", "100", "--gap", "1e-4", "--loss", "huber:0.5"],
    "search": ["complete", "ratings.tsv"],
    "paths": ["complete", "ratings.tsv", "--method", "fwua", "--prepare", "zscore"],
    "denoise": ["denoise", "noisy.npy", "--radius", "40", "--l1", "0.05", "--iterations", "200"],
}


class ViolationError(Exception):
    pass


class Soak:
    def __init__(self, program, faults, folder, seed):
        self.program, self.faults, self.folder = program, faults, folder
        self.chance = random.Random(seed)
        self.counts = collections.Counter()
        numbers = numpy.random.default_rng(seed)
        truth = numbers.normal(size=(150, 3)) @ numbers.normal(size=(3, 100))
        rows, cols = numpy.nonzero(numbers.random(truth.shape) < 0.4)
        values = truth[rows, cols] + 0.3 * numbers.normal(size=rows.size) + 8 * (numbers.random(rows.size) < 0.05)
        ratings = [f"u{i}\ti{j}\t{v:.4f}\n" for i, j, v in zip(rows, cols, values, strict=True)]
        pairs = [f"u{i}\ti{j}\n" for i, j in zip(rows[:50], cols[::-1][:50], strict=True)]
        (folder / "ratings.tsv").write_text("".join(ratings))
        (folder / "pairs.tsv").write_text("".join(pairs))
        numpy.save(folder / "noisy.npy", truth[:60, :50] + 0.1 * numbers.normal(size=(60, 50)))
        self.whole = {}

    def words(self, name):
        return [*COMMANDS[name], *OFTEN, "--json", "run.json", "--model", "m.npz", "--quiet"]

    def run(self, words, seconds=None, number=signal.SIGKILL, **faults):
        """The exit code; after so many seconds the signal is sent."""
        self.counts["resumed"] += words[0] == "resume"
        environment = {f"TRACENORM_FAULT_{key.upper()}": str(value) for key, value in faults.items()}
        if faults:
            environment["LD_PRELOAD"] = str(self.faults)
        with open(self.folder / "stderr", "w") as log:
            process = subprocess.Popen(
                [self.program, *words], cwd=self.folder, env={**os.environ, **environment}, stdout=log, stderr=log
            )
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                return process.wait(120)

    def outcome(self):
        """What must be the same: the model but for its times, the run's numbers, predictions."""
        run = json.loads((self.folder / "run.json").read_text())
        numbers = {key: run[key] for key in ("status", "objective", "lower_bound", "iterations", "rank")}
        numbers["trace"] = [(step["objective"], step["lower_bound"]) for step in run["trace"]]
        with numpy.load(self.folder / "m.npz") as arrays:
            factors = {key: arrays[key].tobytes() for key in arrays.files if key != "metadata"}
        # (of a model that does not know the names, nothing)
        done = subprocess.run([self.program, "predict", "m.npz", "pairs.tsv"], cwd=self.folder, capture_output=True)
        predictions = done.stdout
        return numbers, factors, predictions

    def clean(self):
        for path in self.folder.iterdir():
            if path.name not in ("ratings.tsv", "pairs.tsv", "noisy.npy"):
                path.unlink()

    def undisturbed(self, name):
        if name not in self.whole:
            begin = time.monotonic()
            self.clean()
            if (code := self.run(self.words(name))) not in (0, 1):
                raise ViolationError(f"{name}: exit code {code} without any fault")
            self.whole[name] = self.outcome(), time.monotonic() - begin
        return self.whole[name]

    def check_checkpoint(self):
        path = self.folder / "run.ckpt"
        if path.exists():
            with zipfile.ZipFile(path) as archive:
                if archive.testzip() is not None:
                    raise ViolationError("a damaged checkpoint")

    def resume_to_the_end(self, name):
        kept = (self.folder / "run.ckpt").exists()
        code = self.run(["resume", "run.ckpt"] if kept else self.words(name))
        if code not in (0, 1):
            raise ViolationError(f"{name}: exit code {code} of a resumed run: {(self.folder / 'stderr').read_text()}")
        if self.outcome() != self.undisturbed(name)[0]:
            raise ViolationError(f"{name}: the end differs from that of the undisturbed run")

    def kill(self, name):
        _, seconds = self.undisturbed(name)
        self.clean()
        words = self.words(name)
        while self.run(words, self.chance.uniform(0, seconds)) == -signal.SIGKILL:
            self.counts["killed"] += 1
            self.check_checkpoint()
            words = ["resume", "run.ckpt"] if (self.folder / "run.ckpt").exists() else self.words(name)
            if self.chance.random() < 0.6:
                return self.resume_to_the_end(name)
        if not (self.folder / "run.json").exists():
            raise ViolationError(f"{name}: {(self.folder / 'stderr').read_text()}")
        if self.outcome() != self.undisturbed(name)[0]:
            raise ViolationError(f"{name}: the end differs from that of the undisturbed run")

    def stop(self, name):
        _, seconds = self.undisturbed(name)
        self.clean()
        number = self.chance.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
        code = self.run(self.words(name), self.chance.uniform(0, seconds), number)
        self.counts["stopped"] += code in (130, -number)
        self.check_checkpoint()
        if code == 130 and not (self.folder / "m.npz").exists():
            raise ViolationError(f"{name}: interrupted, and no model")
        if code not in (0, 1):
            self.resume_to_the_end(name)

    def full(self, name):
        self.undisturbed(name)
        self.clean()
        old = {"m.npz": b"an old model", "run.json": b"an old report"}
        for file, content in old.items():
            (self.folder / file).write_bytes(content)
        place = self.chance.randint(1, 60)
        code = self.run(self.words(name), enospc=place)
        self.counts["full disks"] += code == 3
        if code not in (0, 1, 3):
            raise ViolationError(f"{name}: exit code {code} with a full disk at write {place}")
        for path in self.folder.iterdir():
            if path.name.endswith(".tmp"):
                raise ViolationError(f"{name}: {path.name} is left")
        for file in old:
            if (self.folder / file).read_bytes() == old[file]:
                continue
            if file == "m.npz":
                with numpy.load(self.folder / file) as arrays:
                    list(arrays.values())
            else:
                json.loads((self.folder / file).read_text())
        self.check_checkpoint()
        self.resume_to_the_end(name)

    def slow(self, name):
        self.undisturbed(name)
        self.clean()
        self.run(self.words(name), short=self.chance.randint(1000, 20000), eintr=self.chance.randint(2, 9))
        if self.outcome() != self.undisturbed(name)[0]:
            raise ViolationError(f"{name}: short writes change the outcome")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("faults", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rounds", type=int, help="so many instead of minutes")
    parser.add_argument("--only", choices=("kill", "stop", "full", "slow"))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tracenorm-soak-"))
    soak = Soak(options.program.resolve(), options.faults.resolve(), folder, options.seed)
    begin = time.monotonic()
    rounds = 0
    while rounds < options.rounds if options.rounds else time.monotonic() - begin < 60 * options.minutes:
        name = soak.chance.choice(list(COMMANDS))
        fault = options.only or soak.chance.choice(["kill", "kill", "stop", "full", "slow"])
        try:
            getattr(soak, fault)(name)
        except ViolationError as violation:
            print(f"soak: round {rounds}, {fault}: {violation}; see {folder}", file=sys.stderr)
            return 1
        rounds += 1
        soak.counts[f"rounds of {fault}"] += 1
    soak.clean()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    counts = ", ".join(f"{value} {key}" for key, value in sorted(soak.counts.items()))
    print(f"{rounds} rounds in {(time.monotonic() - begin) / 60:.1f} minutes: {counts}; 0 ends differ, 0 damaged files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
