"""Checkpoints: whatever ends a run, it goes on to the same bits."""

import json
import random
import resource
import signal
import subprocess
import time
import zipfile

import numpy
from support import PROGRAM, ProgramTest

# As often as possible, at many places: small data are soon solved.
OFTEN = ("--checkpoint-every", 0, "--checkpoint-passes", 100)


class CheckpointTest(ProgramTest):
    def solved(self, name):
        """What a run says, but for its times, and the model as arrays."""
        run = json.loads((self.folder / f"{name}.json").read_text())
        for step in run["trace"]:
            step.pop("seconds")
        names = ("objective", "lower_bound", "iterations", "status", "trace", "counters", "rank")
        keep = {key: run[key] for key in names}
        model = self.folder / f"{name}.npz"
        with numpy.load(model) as arrays:
            factors = {key: arrays[key].tobytes() for key in arrays.files if key != "metadata"}
        return keep, factors

    def numbers(self, name):
        run = json.loads((self.folder / name).read_text())
        return {key: run[key] for key in ("objective", "scores") if key in run}

    def command(self, *options):
        return ["complete", self.ratings(rows=120, cols=90), *options, *OFTEN, "--checkpoint", "run.ckpt"]

    def finish(self, name, *words):
        """Runs to the end, with results of that name."""
        return self.succeed(*words, "--json", f"{name}.json", "--model", f"{name}.npz")

    def kill_after(self, seconds, words):
        process = subprocess.Popen(
            [PROGRAM, *map(str, words)], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        return process.wait()

    def kills(self, words, rounds):
        begin = time.monotonic()
        self.finish("whole", *words)
        whole = time.monotonic() - begin
        self.assertFalse((self.folder / "run.ckpt").exists(), "a run that is done needs no checkpoint")
        chance = random.Random(7)
        killed = resumed = 0
        for _ in range(rounds):
            outputs = ("--json", "killed.json", "--model", "killed.npz")
            code = self.kill_after(chance.uniform(0.05, 0.95) * whole, [*words, *outputs])
            killed += code == -signal.SIGKILL
            if (self.folder / "run.ckpt").exists() and chance.random() < 0.5:  # it may die again
                self.kill_after(chance.uniform(0, 0.6) * whole, ["resume", "run.ckpt"])
            if (self.folder / "run.ckpt").exists():
                self.succeed("resume", "run.ckpt")
                resumed += 1
            elif not (self.folder / "killed.json").exists():
                continue  # before there was anything to keep
            self.assertEqual(self.solved("killed"), self.solved("whole"))
            for leftover in self.folder.glob("killed.*"):
                leftover.unlink()
        self.assertGreater(killed, 0)
        return resumed

    def test_a_killed_solve_goes_on_to_the_same_bits(self):
        words = self.command("--radius", 100, "--iterations", 1500)
        self.assertGreater(self.kills(words, 6), 0)

    def test_a_killed_search_goes_on_to_the_same_bits(self):
        self.assertGreater(self.kills(self.command(), 5), 0)

    def test_an_interrupted_run_says_how_to_go_on(self):
        words = self.command("--radius", 100, "--iterations", 1500)
        self.finish("whole", *words)
        process = subprocess.Popen(
            [PROGRAM, *map(str, words), "--json", "killed.json", "--model", "killed.npz"],
            cwd=self.folder,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        while not (self.folder / "run.ckpt").exists():
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("tracenorm resume run.ckpt", stderr)
        self.succeed("resume", "run.ckpt")
        self.assertEqual(self.solved("killed"), self.solved("whole"))
        self.assertFalse((self.folder / "run.ckpt").exists())

    def stopped(self):
        """A run that a limit ends before its gap, so that its checkpoint stays."""
        words = self.command("--radius", 100, "--method", "fwua", "--gap", 1e-7, "--iterations", 300)
        done = self.run_program(*words, "--json", "run.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertTrue((self.folder / "run.ckpt").exists())

    def test_limits_may_change(self):
        self.stopped()
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        done = subprocess.run(
            [PROGRAM, "resume", "../run.ckpt", "--iterations=400", "--gap", "1e-8", "--json", "new.json", "--quiet"],
            cwd=elsewhere,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout + done.stderr, "")
        self.assertEqual(json.loads((elsewhere / "new.json").read_text())["iterations"], 400)
        self.fail_with(2, "resume", "run.ckpt", "--loss", "squared", says=("--loss: cannot change", "--iterations"))
        self.fail_with(2, "resume", "run.ckpt", "--gap", says="--gap: a value is missing")

    def test_time_may_be_given_anew(self):
        words = self.command("--radius", 100, "--iterations", 1500)
        self.finish("whole", *words)
        self.finish("killed", *words, "--time", 0.05)
        self.assertEqual(self.solved("killed")[0]["status"], "time_limit")
        self.succeed("resume", "run.ckpt", "--time", 100)
        self.assertEqual(self.solved("killed"), self.solved("whole"))

    def test_what_does_not_belong_is_refused(self):
        self.stopped()
        words = ["complete", "ratings.tsv", "--radius", 100, "--method", "fwua", "--gap", 1e-7, "--iterations", 300]
        end = [*OFTEN, "--checkpoint", "run.ckpt"]
        self.fail_with(3, *words, *end, says=("run.ckpt", "is there already", "--resume"))
        self.fail_with(3, *words, *end, "--loss", "squared", "--resume", says=("other options", "loss = "))
        self.fail_with(2, *words, "--resume", says="--checkpoint FILE")
        kept = (self.folder / "run.ckpt").read_bytes()
        self.ratings(rows=120, cols=90, seed=1)
        self.fail_with(3, "resume", "run.ckpt", says="belongs to other data")
        (self.folder / "run.ckpt").write_bytes(kept[: len(kept) // 2])
        self.fail_with(3, "resume", "run.ckpt", says="run.ckpt")
        self.fail_with(3, "resume", "ratings.tsv", says="ratings.tsv")
        self.fail_with(3, "resume", "absent.ckpt", says="absent.ckpt")
        self.fail_with(2, "complete", "-", "--checkpoint", "new.ckpt", says="standard input")

    def test_a_full_disk_costs_the_checkpoint_only(self):
        self.ratings(rows=120, cols=90)
        self.finish("whole", *self.command("--radius", 100, "--iterations", 600))
        done = subprocess.run(
            [PROGRAM, *map(str, self.command("--radius", 100, "--iterations", 600)), "--json", "-"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("the run goes on without"), 1, done.stderr)
        self.assertEqual(json.loads(done.stdout)["objective"], self.solved("whole")[0]["objective"])
        self.assertEqual([p.name for p in self.folder.iterdir() if "ckpt" in p.name], [])

    def test_the_other_commands(self):
        cases = {
            "denoise": [self.matrix(rows=60, cols=50)],
            "links": [self.edges()],
            "evaluate": [self.ratings(rows=60, cols=40), "--folds", 3, "--radius", 50],
        }
        for command, words in cases.items():
            with self.subTest(command):
                self.succeed(command, *words, "--json", "whole.json", *OFTEN, "--checkpoint", "a.ckpt")
                first = self.numbers("whole.json")
                outputs = ("--json", "whole.json", "--checkpoint", "a.ckpt")
                process = subprocess.Popen(
                    [PROGRAM, command, *map(str, words), *map(str, OFTEN), *outputs],
                    cwd=self.folder,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                while process.poll() is None and not (self.folder / "a.ckpt").exists():
                    time.sleep(0.001)
                process.kill()
                process.wait()
                if (self.folder / "a.ckpt").exists():
                    self.succeed("resume", "a.ckpt")
                self.assertEqual(self.numbers("whole.json"), first)

    def test_numpy_opens_it(self):
        self.stopped()
        with zipfile.ZipFile(self.folder / "run.ckpt") as archive:
            self.assertIsNone(archive.testzip())
        with numpy.load(self.folder / "run.ckpt") as arrays:
            self.assertEqual(arrays["checkpoint_schema"], 1)
            self.assertGreater(arrays["current/session.trace"].shape[1], 0)


if __name__ == "__main__":
    import unittest

    unittest.main()
