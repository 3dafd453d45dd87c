"""Machines on a bad day: a full disk at any write, short writes, no memory, no threads, a second Ctrl-C."""

import json
import os
import resource
import signal
import subprocess
import time

import numpy
from support import PROGRAM, ProgramTest
from test_interruption import listens_to

FAULTS = os.environ.get("TRACENORM_FAULTS", "")
OUTPUTS = {
    "--model": "m.npz",
    "--certificate": "c.npz",
    "--json": "run.json",
    "--report": "page.html",
    "--output": "all.csv",
}


class FaultsTest(ProgramTest):
    def faulty(self, *words, **faults):
        environment = {f"TRACENORM_FAULT_{name.upper()}": str(value) for name, value in faults.items()}
        return self.run_program(*words, env={**os.environ, "LD_PRELOAD": FAULTS, **environment})

    def command(self, *more):
        outputs = [word for pair in OUTPUTS.items() for word in pair]
        return ["complete", self.ratings(), "--radius", 40, "--iterations", 60, "--method", "fwua", *outputs, *more]

    def contents(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def writes(self, *words):
        """How many writes and syncs a command makes."""
        self.assertEqual(self.faulty(*words, log=self.folder / "count").returncode, 0)
        count = int((self.folder / "count").read_text())
        (self.folder / "count").unlink()
        return count

    def test_a_full_disk_at_any_write(self):
        words = self.command()
        count = self.writes(*words)
        self.assertGreater(count, 2 * len(OUTPUTS))
        for name in OUTPUTS.values():
            self.write(name, "what was there before")
        for place in range(1, count + 1):
            with self.subTest(place):
                before = self.contents()
                done = self.faulty(*words, enospc=place)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("No space left on device", done.stderr)
                after = self.contents()
                self.assertEqual(after.keys(), before.keys(), "something is left beside")
                changed = {name for name in before if after[name] != before[name]}
                for name in changed:  # is whole
                    self.whole(name)
        self.assertEqual(self.faulty(*words, enospc=count + 1).returncode, 0)

    def whole(self, name):
        path = self.folder / name
        if name.endswith(".npz"):
            with numpy.load(path) as arrays:
                self.assertTrue(all(arrays[key] is not None for key in arrays.files))
        elif name.endswith(".json"):
            json.loads(path.read_text())
        elif name.endswith(".html"):
            self.assertTrue(path.read_text().rstrip().endswith("</html>"))
        else:
            self.assertEqual(len(path.read_text().splitlines()), 31)

    def test_short_and_interrupted_writes_change_nothing(self):
        self.succeed(*self.command())
        names = ("m.npz", "c.npz", "all.csv")
        first = {name: (self.folder / name).read_bytes() for name in names}
        for faults in ({"short": 100}, {"eintr": 2}, {"short": 7, "eintr": 3}):
            for name in OUTPUTS.values():
                (self.folder / name).unlink()
            self.assertEqual(self.faulty(*self.command(), **faults).returncode, 0)
            for name in ("c.npz", "all.csv"):
                self.assertEqual((self.folder / name).read_bytes(), first[name], name)
            self.whole("m.npz")

    def test_a_checkpoint_survives_a_full_disk(self):
        words = [*self.command(), "--gap", 1e-9, "--checkpoint", "run.ckpt", "--checkpoint-passes", 50]
        self.assertEqual(self.run_program(*words).returncode, 1)
        kept = (self.folder / "run.ckpt").read_bytes()
        more = ["resume", "run.ckpt", "--iterations", 120, "--checkpoint-every", 0]
        for place in (1, 2, 5, 9):
            self.faulty(*more, enospc=place)
            self.assertEqual((self.folder / "run.ckpt").read_bytes(), kept)

    def test_no_memory_is_a_sentence(self):
        """Entries that need more than there is: the bytes are named, nothing is left half-written."""
        random = numpy.random.default_rng(0)
        count = 300_000
        cols, values = random.integers(0, 50, count), random.normal(size=count)
        self.write_triplets("many.tsv", random.permutation(count), cols, values)
        before = sorted(self.contents())
        needed, enough = 0, 0
        for megabytes in range(100, 900, 50):
            limit = megabytes << 20
            options = ("--radius", "1e3", "--iterations", "3", "--model", "m.npz", "--threads", "2")
            done = subprocess.run(
                [PROGRAM, "complete", "many.tsv", *options],
                cwd=self.folder,
                capture_output=True,
                text=True,
                timeout=120,
                preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
            )
            if done.returncode == 127 or "error while loading" in done.stderr:
                continue  # too little to start at all
            if done.returncode in (0, 1):
                enough += 1
                self.whole("m.npz")
                (self.folder / "m.npz").unlink()
                continue
            self.assertEqual(done.returncode, 3, f"{megabytes} MB: {done.stderr}")
            self.assertIn("not enough memory", done.stderr)
            self.assertEqual(sorted(self.contents()), before)
            needed += "bytes" in done.stderr
        self.assertGreater(needed, 0)
        self.assertGreater(enough, 0)

    def test_without_threads_the_run_goes_on(self):
        """None at all, which libraries that are loaded want before ours, or one and no more."""
        names = ("m.npz", "c.npz", "all.csv")
        self.succeed(*self.command("--threads", 4))
        expected = {name: (self.folder / name).read_bytes() for name in names[1:]}
        for first_refused in (1, 2):
            for name in OUTPUTS.values():
                (self.folder / name).unlink()
            done = self.faulty(*self.command("--threads", 4), threads=first_refused)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.whole("m.npz")
            for name in names[1:]:
                self.assertEqual((self.folder / name).read_bytes(), expected[name], name)

    def test_a_second_signal_ends_it_at_once(self):
        for first, second in ((signal.SIGINT, signal.SIGINT), (signal.SIGHUP, signal.SIGTERM)):
            process = subprocess.Popen(
                [PROGRAM, "complete", self.ratings(), "--radius", "40", "--iterations", "10000000"],
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while process.poll() is None and not listens_to(process.pid, signal.SIGTERM):
                time.sleep(0.005)
            process.send_signal(signal.SIGSTOP)  # so that both have come before it looks
            process.send_signal(first)
            process.send_signal(second)
            process.send_signal(signal.SIGCONT)
            code = process.wait(timeout=60)
            self.assertIn(code, (-first, -second, 130))

    def test_a_lost_terminal(self):
        """SIGHUP, and a progress that can no longer be written."""
        reader, writer = os.pipe()
        process = subprocess.Popen(
            [PROGRAM, "complete", self.ratings(), "--radius", "40", "--iterations", "10000000", "--model", "m.npz"],
            cwd=self.folder,
            stdout=writer,
            stderr=writer,
        )
        os.close(writer)
        while not listens_to(process.pid, signal.SIGHUP):
            time.sleep(0.005)
        os.close(reader)
        process.send_signal(signal.SIGHUP)
        process.wait(timeout=60)
        self.whole("m.npz")


if __name__ == "__main__":
    import unittest

    unittest.main()
