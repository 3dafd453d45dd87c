"""experiments/reproduce.py: the paper's experiments, small; killed and resumed, it must give the same tables."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from paper_data import write_paper_data
from support import EXPERIMENTS, PROGRAM, ProgramTest, parse_strict

# An experiment of two sizes and three methods that is over in a moment.
TINY = {
    "name": "tiny",
    "title": "A tiny experiment",
    "seeds": 2,
    "values": {"iterations": 30},
    "prepare": ["generate covariance {work}/c.npy --n {n} --seed {seed} --truth"],
    "truth": "{work}/c.truth.npy",
    "cases": [{"name": "40", "values": {"n": 40}}, {"name": "60", "values": {"n": 60}}],
    "methods": [
        {
            "name": "genfb",
            "title": "GenFB",
            "command": "denoise {work}/c.npy --method genfb --trace-penalty 1 --l1 0.1",
        },
        {
            "name": "fwua",
            "title": "FWUA",
            "command": "denoise {work}/c.npy --radius {genfb.trace_norm} --l1 0.1 --iterations {iterations}",
        },
        {
            "name": "hcgs",
            "title": "HCGS",
            "seeds": 1,
            "command": "denoise {work}/c.npy --method hcgs --radius {genfb.trace_norm} --l1 0.1",
        },
    ],
    "measures": [
        {
            "name": "objective",
            "title": "objective",
            "value": ["/result/objective_without_trace_penalty", "/result/objective"],
            "digits": 6,
            "better": "lower",
        },
        {"name": "error", "title": "error", "value": "/pattern/relative_error", "digits": 6},
    ],
    "paper": {"40": {"genfb": {"objective": 30.0}, "fwua": {"objective": 40.0}}},
    "comparisons": [{"method": "fwua", "with": ["genfb"], "measures": ["objective"]}],
    "protocol": [{"point": "Seed", "paper": "not stated", "chosen": "1 and 2"}],
    "quick": {"seeds": 1, "cases": [{"name": "40", "values": {"n": 40}}]},
}

RUNS = 2 * 2 * 2 + 2  # sizes, seeds, GenFB and FWUA; HCGS has one seed


def without_clock(line):
    """A finished run without what may differ from day to day."""
    run = json.loads(line)
    for name in ("date", "total_seconds", "processor_seconds"):
        run.pop(name)
    run["result"].pop("seconds")
    run["result"].pop("profile")
    run["result"]["trace"].pop("seconds")
    return run


class ReproduceTest(ProgramTest):
    def declare(self, **changes):
        return self.write("tiny.json", json.dumps({**TINY, **changes}))

    def tiny(self, out, *options):
        """The arguments of the script."""
        return ["tiny", "--declaration", "tiny.json", "--out", out, *options]

    def start(self, *arguments):
        """The script in a process of its own."""
        command = [sys.executable, "-B", EXPERIMENTS / "reproduce.py", *arguments, "--program", PROGRAM]
        return subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True)

    def expect(self, code, *arguments, says=()):
        """Runs the script; `says` are parts of what it says on standard error."""
        done = self.reproduce(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, done.stderr)
        return done

    def log(self, out):
        path = self.folder / out / "runs.jsonl"
        return path.read_text().splitlines() if path.exists() else []

    def runs(self, out):
        return sorted((without_clock(line) for line in self.log(out)), key=lambda run: run["key"])

    def tables(self, out):
        """The tables, but for the facts of the day."""
        text = (self.folder / out / "results.md").read_text()
        return text[text.index("## Does the paper's order hold?") :]

    def test_numbers_come_from_the_runs(self):
        self.declare()
        self.expect(0, *self.tiny("out"))
        runs = self.runs("out")
        self.assertEqual(len(runs), RUNS)
        radius = {(run["case"], run["seed"]): run["result"]["trace_norm"] for run in runs if run["method"] == "genfb"}
        for run in runs:
            if run["method"] != "genfb":
                self.assertEqual(run["result"]["radius"], radius[run["case"], run["seed"]])
                self.assertIn(f"--radius {run['result']['radius']}", run["command"])
        fwua = [run["result"]["objective"] for run in runs if (run["case"], run["method"]) == ("40", "fwua")]
        mean = sum(fwua) / 2
        deviation = abs(fwua[0] - fwua[1]) / 2**0.5
        row = next(line for line in self.tables("out").splitlines() if line.startswith("|  | FWUA | 2 "))
        self.assertIn(f" {mean:.6f} ± {deviation:.6f} | 40.000000 | {100 * (mean / 40 - 1):+.1f} % |", row)
        direction = self.tables("out").splitlines()[2]
        self.assertRegex(direction, r"^Of 1 comparisons: 1 (confirmed|not quite|contradicted)\.$")
        self.assertFalse((self.folder / "out" / "work").exists())

    def test_command_on_record_gives_the_number(self):
        self.declare()
        self.expect(0, *self.tiny("out", "--quick"))
        run = next(run for run in self.runs("out") if run["method"] == "hcgs")
        for command in [*run["prepare"], run["command"]]:
            words = command.replace("WORK/", "").split()[1:]
            self.succeed(*words, "--quiet", *(["--json", "again.json"] if "denoise" in words else []))
        again = parse_strict((self.folder / "again.json").read_text())
        self.assertEqual(again["objective"], run["result"]["objective"])

    def test_killed_at_any_moment_and_resumed(self):
        self.declare()
        self.expect(0, *self.tiny("whole"))
        kills = 0
        for pause in (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3):
            process = self.start(*self.tiny("pieces", "--resume", "--quiet"))
            before = len(self.log("pieces"))
            while process.poll() is None and len(self.log("pieces")) == before:
                time.sleep(0.001)
            time.sleep(pause)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.communicate()
        self.assertGreater(kills, 0)
        # A crash of the machine may cut the last line off.
        log = self.folder / "pieces" / "runs.jsonl"
        os.truncate(log, log.stat().st_size - 100)
        self.expect(0, *self.tiny("pieces", "--resume"))
        self.assertEqual(self.runs("pieces"), self.runs("whole"))
        self.assertEqual(self.tables("pieces"), self.tables("whole"))

    def test_side_by_side(self):
        """As one after the other: what takes a number from another run waits for it, and each has a folder."""
        self.declare()
        self.expect(0, *self.tiny("one"))
        self.expect(0, *self.tiny("three", "--jobs", "3"))
        self.assertEqual(self.runs("three"), self.runs("one"))
        self.assertEqual(self.tables("three"), self.tables("one"))
        self.assertFalse((self.folder / "three" / "work").exists())
        self.expect(2, *self.tiny("none", "--jobs", "0"), says="--jobs")
        broken = [{**TINY["methods"][0], "command": "denoise {work}/none.npy --radius 1"}, *TINY["methods"][1:]]
        self.declare(methods=broken)
        done = self.expect(4, *self.tiny("broken", "--jobs", "3"))
        self.assertEqual(done.stderr.count("it depends on GenFB, which is not finished"), RUNS - 4, done.stderr)
        self.assertFalse(self.log("broken"))

    def test_killing_the_script_ends_its_run(self):
        def is_here(process):
            try:
                return os.readlink(process / "cwd") == str(self.folder)
            except OSError:  # somebody else's, or just gone
                return False

        def left():
            return [process for process in pathlib.Path("/proc").glob("[0-9]*") if is_here(process)]

        self.declare(values={"iterations": 10_000_000})
        process = self.start(*self.tiny("out"))
        while not self.log("out"):
            time.sleep(0.01)
        time.sleep(0.2)  # in the middle of the next run
        self.assertEqual(len(left()), 2)  # the script and the program
        process.kill()
        process.communicate()
        end = time.monotonic() + 10
        while left() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(left(), [])

    def test_finished_runs_are_not_done_again(self):
        self.declare()
        self.expect(0, *self.tiny("out"))
        before = self.log("out")
        done = self.expect(0, *self.tiny("out", "--resume"))
        self.assertEqual(self.log("out"), before)
        self.assertNotIn("seed", done.stderr)
        self.expect(2, *self.tiny("out"), says=["--out", "--resume", f"{RUNS} finished runs"])
        page = (self.folder / "out" / "index.html").read_bytes()
        (self.folder / "out" / "index.html").unlink()
        self.expect(0, *self.tiny("out", "--page-only"))
        self.assertEqual((self.folder / "out" / "index.html").read_bytes(), page)
        self.assertTrue(all(json.loads(line)["processor_seconds"] > 0 for line in before))
        self.declare(values={"iterations": 31})  # another experiment: FWUA again, the others as they were
        self.expect(0, *self.tiny("out", "--resume"))
        self.assertEqual(len(self.log("out")), RUNS + 4)

    def test_shared_runs_without_a_pattern_are_done_again_where_one_is_wanted(self):
        """Another experiment that holds the same commands against no truth must not leave holes in the table."""
        self.declare(truth="")
        self.expect(0, *self.tiny("out", "--quick"))
        self.assertNotIn("pattern", self.runs("out")[0])
        self.declare()
        self.expect(0, *self.tiny("out", "--resume", "--quick"))
        self.assertEqual([("pattern" in json.loads(line)) for line in self.log("out")], [False] * 3 + [True] * 3)
        self.expect(0, *self.tiny("out", "--resume", "--quick"))
        self.assertEqual(len(self.log("out")), 6)

    def test_interrupted(self):
        self.declare(values={"iterations": 10_000_000})
        process = self.start(*self.tiny("out", "--jobs", "2"))
        while not self.log("out"):
            time.sleep(0.01)
        time.sleep(0.2)  # in the middle of the next run
        self.expect(3, *self.tiny("out", "--resume"), says=["--out", "another reproduction"])
        process.send_signal(signal.SIGINT)
        stderr = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("--resume", stderr)
        self.assertIn("not run", self.tables("out"))
        self.assertNotIn("interrupted", (self.folder / "out" / "runs.jsonl").read_text())

    def test_case_with_some_methods(self):
        """What the other methods would need, the case need not have."""
        needy = {"name": "needy", "title": "Needy", "command": "denoise {work}/c.npy --radius {radius} --l1 0.1"}
        only = [{**case, "methods": ["genfb", "fwua", "hcgs"]} for case in TINY["cases"]]
        own = {"name": "own", "values": {"n": 40, "radius": 5}, "methods": ["needy"]}
        self.declare(cases=[*only, own], methods=[*TINY["methods"], needy])
        self.expect(0, *self.tiny("out"))
        self.assertEqual(len(self.log("out")), RUNS + 2)
        self.assertIn("| own | Needy | 2 |", self.tables("out"))

    def test_methods_seeds_and_what_they_need(self):
        self.declare()
        self.expect(0, *self.tiny("out", "--methods", "hcgs", "--seeds", "1"))
        self.assertEqual({run["method"] for run in self.runs("out")}, {"genfb", "hcgs"})
        self.assertEqual({run["seed"] for run in self.runs("out")}, {1})
        self.expect(2, *self.tiny("out2", "--methods", "adam"), says=["--methods", "adam", "genfb, fwua, hcgs"])
        self.expect(2, *self.tiny("out2", "--seeds", "0"), says="--seeds")
        self.expect(2, "everything", "--out", "out2", says=["everything", "covariance", "all"])
        self.expect(3, "all", "--out", "out2", "--data", "nowhere", says=["--data", "nowhere"])

    def test_bad_declarations(self):
        for changes, says in (
            ({"cases": []}, ["tiny.json", "cases"]),
            ({"seeds": 0}, ["tiny.json", "seeds"]),
            ({"methods": [{"name": "a", "title": "A"}]}, ["methods[0]", "command"]),
            ({"comparisons": [{"method": "b", "with": [], "measures": []}]}, ["no method 'b'"]),
            ({"methods": [{"name": "a", "title": "A", "command": "denoise {file2}"}], "comparisons": []}, ["{file2}"]),
            (
                {"methods": [{"name": "a", "title": "A", "command": "denoise x.npy --mu 1"}], "comparisons": []},
                ["--mu"],
            ),
        ):
            self.declare(**changes)
            self.expect(3, *self.tiny("bad"), says=says)
        self.write("tiny.json", "{")
        self.expect(3, *self.tiny("bad"), says=["tiny.json", "not JSON"])
        self.expect(3, "tiny", "--declaration", "none.json", "--out", "bad", says="none.json")

    def test_failed_run_is_told_and_tried_again(self):
        broken = {"name": "broken", "title": "Broken", "command": "denoise {work}/none.npy --radius 1"}
        self.declare(methods=[*TINY["methods"], broken])
        done = self.expect(4, *self.tiny("out", "--quick"))
        self.assertIn("Broken", done.stderr)
        self.assertIn("Failed: tiny", (self.folder / "out" / "index.html").read_text())
        self.declare()
        self.expect(0, *self.tiny("out", "--quick", "--resume"))
        self.assertNotIn("Failed: tiny", (self.folder / "out" / "index.html").read_text())

    def test_runs_of_another_program_are_not_mixed_in(self):
        self.declare()
        self.expect(0, *self.tiny("out", "--quick"))
        log = self.folder / "out" / "runs.jsonl"
        run = json.loads(self.log("out")[0])
        if run["commit"] is None:
            self.skipTest("these sources have no history")
        log.write_text(log.read_text().replace(f'"commit":"{run["commit"]}"', '"commit":"1234567"'))
        self.expect(2, *self.tiny("out", "--quick", "--resume"), says=["1234567", run["commit"], "another folder"])
        self.expect(0, *self.tiny("out", "--quick", "--page-only"))
        self.assertIn("sources of commit 1234567", (self.folder / "out" / "results.md").read_text())

    def test_a_page_needs_the_log_alone(self):
        write_paper_data(self.folder / "data")
        self.expect(0, "links", "--quick", "--data", "data", "--out", "out", "--quiet")
        self.assertNotIn(str(self.folder), (self.folder / "out" / "runs.jsonl").read_text())
        made = self.tables("out")
        shutil.rmtree(self.folder / "data")
        self.expect(0, "links", "--quick", "--out", "out", "--page-only")
        self.assertEqual(self.tables("out"), made)

    def test_damaged_log(self):
        self.declare()
        self.expect(0, *self.tiny("out", "--quick"))
        log = self.folder / "out" / "runs.jsonl"
        log.write_text("{}\n" + log.read_text())
        self.expect(3, *self.tiny("out", "--quick", "--resume"), says=["runs.jsonl:1", "remove the line"])

    def test_everything_without_data(self):
        self.expect(0, "all", "--quick", "--out", "out", "--quiet")
        page = (self.folder / "out" / "index.html").read_text()
        for name in ("ml-100k", "ml-1m", "ml-10m", "ego-facebook"):
            self.assertIn(f"experiments/fetch.py {name} --data DIR", page)
        self.assertEqual({run["experiment"] for run in self.runs("out")}, {"covariance", "figures"})

    def test_everything_with_data_in_the_publishers_form(self):
        write_paper_data(self.folder / "data")
        self.expect(0, "all", "--quick", "--data", "data", "--out", "out", "--quiet")
        runs = self.runs("out")
        self.assertEqual(
            {run["experiment"] for run in runs}, {"covariance", "figures", "links", "movielens", "robustness"}
        )
        self.assertEqual(
            {run["case"] for run in runs if run["experiment"] == "movielens"}, {"ml-100k", "ml-1m", "ml-10m"}
        )
        half_stars = next(run for run in runs if run["case"] == "ml-10m")
        self.assertIn("DATA/ml-10m.zip", half_stars["command"])
        self.assertEqual((half_stars["result"]["rows"], half_stars["result"]["cols"]), (90, 70))
        tables = self.tables("out")
        for printed in ("0.972", "0.829", "0.8760", "0.8120", "3746.3"):  # the paper's, beside ours
            self.assertIn(printed, tables)
        verdicts = re.findall(r"\| (confirmed|contradicted|not quite) \|", tables)
        self.assertGreater(len(verdicts), 30)


if __name__ == "__main__":
    import unittest

    unittest.main()
