"""What the program tests share: running the program in an empty folder, small data, and saved models."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM = os.environ.get("TRACENORM_PROGRAM")
if not PROGRAM:
    raise SystemExit("set TRACENORM_PROGRAM to the path of the program to test")

EXPERIMENTS = pathlib.Path(__file__).resolve().parents[2] / "experiments"

# What every run's JSON has, by the program's contract.
RUN_KEYS = {
    "status",
    "method",
    "loss",
    "rows",
    "cols",
    "observed",
    "radius",
    "objective",
    "lower_bound",
    "relative_gap",
    "certificate",
    "iterations",
    "seconds",
    "rank",
    "trace_norm",
    "test",
    "counters",
    "profile",
    "trace",
    "options",
    "environment",
}
UNBOUNDED = {"genfb", "rlrmc", "glrl"}
NONCONVEX = {"rlrmc", "glrl"}
TRACE_KEYS = {"k", "seconds", "objective", "lower_bound", "width", "rank"}


class ProgramTest(unittest.TestCase):
    """Each test works in an empty folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tracenorm-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, **options):
        command = [PROGRAM, *map(str, arguments)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, **options)

    def run_script(self, name, *arguments):
        """A script of experiments/."""
        command = [sys.executable, "-B", EXPERIMENTS / name, *map(str, arguments)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=240)

    def reproduce(self, *arguments):
        return self.run_script("reproduce.py", *arguments, "--program", PROGRAM)

    def succeed(self, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def fail_with(self, code, *arguments, says=(), **options):
        """Runs, expects this exit code and one error line that holds all of `says`."""
        done = self.run_program(*arguments, **options)
        self.assertEqual(done.returncode, code, f"stdout: {done.stdout}\nstderr: {done.stderr}")
        self.assertRegex(done.stderr, r"(?m)^tracenorm: error: ")
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, done.stderr)
        return done

    def run_json(self, *arguments, code=0):
        """Runs with --json - and returns the object. Standard output must hold nothing else."""
        done = self.run_program(*arguments, "--json", "-")
        self.assertEqual(done.returncode, code, done.stderr)
        return parse_strict(done.stdout)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def write_triplets(self, name, rows, cols, values):
        return self.write(name, "".join(f"{r}\t{c}\t{v}\n" for r, c, v in zip(rows, cols, values, strict=True)))

    def ratings(self, name="ratings.tsv", rows=30, cols=20, share=0.5, seed=0):
        """A small table of ratings 1 to 5 with string names."""
        random = numpy.random.default_rng(seed)
        truth = random.normal(size=(rows, 2)) @ random.normal(size=(2, cols))
        stars = numpy.clip(numpy.round(3 + truth), 1, 5).astype(int)
        seen = random.random((rows, cols)) < share
        seen[:, 0] = seen[0, :] = True
        r, c = numpy.nonzero(seen)
        return self.write_triplets(name, [f"user{i}" for i in r], [f"item{j}" for j in c], stars[r, c])

    def matrix(self, name="noisy.npy", rows=24, cols=18, seed=0):
        random = numpy.random.default_rng(seed)
        truth = numpy.outer(random.uniform(-1, 1, rows), random.uniform(-1, 1, cols))
        numpy.save(self.folder / name, truth + 0.1 * random.normal(size=(rows, cols)))
        return name

    def edges(self, name="edges.txt", nodes=40, seed=0):
        """Two communities: most links inside, few between."""
        random = numpy.random.default_rng(seed)
        lines = ["# a small graph\n"]
        for a in range(nodes):
            for b in range(a + 1, nodes):
                if random.random() < (0.7 if a % 2 == b % 2 else 0.05):
                    lines.append(f"{a} {b}\n")
        return self.write(name, "".join(lines))

    def directed_edges(self, name="directed.txt", nodes=45, seed=0):
        """Three groups; each links mostly to the next one."""
        random = numpy.random.default_rng(seed)
        drawn = random.random((nodes, nodes))
        lines = ["# each group links to the next\n"]
        for a in range(nodes):
            for b in range(nodes):
                if a != b and drawn[a, b] < (0.7 if (a + 1) % 3 == b % 3 else 0.05):
                    lines.append(f"{a} {b}\n")
        return self.write(name, "".join(lines))

    def bipartite_edges(self, name="clicks.csv", rows=40, cols=30, seed=0):
        """Two tastes, and an id may be one of either side."""
        random = numpy.random.default_rng(seed)
        drawn = random.random((rows, cols))
        lines = ["user,item\n"]
        for a in range(rows):
            for b in range(cols):
                if drawn[a, b] < (0.7 if a % 2 == b % 2 else 0.05):
                    lines.append(f"{a},{b}\n")
        return self.write(name, "".join(lines))

    def check_run(self, run):
        """What holds for every run, whatever was solved."""
        self.assertLessEqual(RUN_KEYS, run.keys())
        self.assertTrue(run["trace"])
        for line in run["trace"]:
            self.assertLessEqual(TRACE_KEYS, line.keys())
        self.check_bounds(run)
        self.assertLessEqual({"passes", "products"}, run["counters"].keys())
        self.assertEqual([phase["phase"] for phase in run["profile"]][:1], ["read"])
        self.assertLessEqual({"version", "compiler", "instruction_set", "threads", "seed"}, run["environment"].keys())

    def check_bounds(self, run):
        """The radius is kept, and there is a certificate where the method can give one."""
        if run["method"] in UNBOUNDED:
            self.assertIsNone(run["radius"])
            self.assertIsNone(run["options"]["radius"])
        else:
            self.assertLessEqual(run["trace_norm"], run["radius"] * (1 + 1e-6))
        if run["method"] in NONCONVEX:
            self.assertEqual(run["certificate"], "none")
            self.assertIsNone(run["lower_bound"])
            self.assertIsNone(run["relative_gap"])
        else:
            self.assertIn(run["certificate"], {"exact", "cholesky", "probabilistic"})
            self.assertLessEqual(run["lower_bound"], run["objective"])

    def check_same_bits(self, *command):
        """Runs on several numbers of threads: the JSON but for the clock, the model and its file must not differ."""
        first = self.solve_on(1, command)
        for threads in (2, 3, 5, 1):
            again = self.solve_on(threads, command)
            for before, after in zip(first, again, strict=True):
                self.assertEqual(before, after, f"{threads} threads")

    def solve_on(self, threads, command):
        self.succeed(*command, "--threads", threads, "--json", "run.json", "--model", "m.npz", "--quiet")
        run = parse_strict((self.folder / "run.json").read_text())
        arrays = {name: array.tobytes() for name, array in load_model(self.folder / "m.npz").items()}
        return without_clock(run), arrays, (self.folder / "m.npz").read_bytes()


def without_clock(run):
    """A run's JSON without what may differ: the clock and the number of threads."""
    run = dict(run)
    run.pop("seconds")
    run["profile"] = [(line["phase"], line["passes"]) for line in run["profile"]]
    run["trace"] = [{key: value for key, value in line.items() if key != "seconds"} for line in run["trace"]]
    for part in ("options", "environment"):
        run[part] = {key: value for key, value in run[part].items() if key != "threads"}
    return run


def parse_strict(text):
    """JSON as the standard has it: no bare NaN or Infinity."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def load_model(path):
    """The arrays of a saved model, and the matrix it stands for in prepared units."""
    with numpy.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["matrix"] = (arrays["left"] * arrays["values"]) @ arrays["right"].T
    return arrays


def names_to_index(names):
    return {str(name): index for index, name in enumerate(names)}


def read_triplets(path):
    rows, cols, values = [], [], []
    for line in pathlib.Path(path).read_text().splitlines():
        row, col, value = line.split("\t")[:3]
        rows.append(row)
        cols.append(col)
        values.append(float(value))
    return rows, cols, numpy.array(values)
