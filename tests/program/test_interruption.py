"""Ctrl-C in the middle of a run: exit code 130, and the work so far is saved."""

import signal
import subprocess
import time

from support import PROGRAM, ProgramTest, load_model, parse_strict


def listens_to(pid, number):
    """Whether a process has installed a handler for a signal, as Linux tells."""
    with open(f"/proc/{pid}/status") as status:
        caught = next(line for line in status if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (number - 1) & 1 == 1


class InterruptionTest(ProgramTest):
    def start(self, *options):
        command = [PROGRAM, "complete", self.ratings(), "--radius", "40", "--iterations", "1000000", *options]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def interrupt(self, process, number):
        while not listens_to(process.pid, number):
            self.assertIsNone(process.poll(), "the run should still be going")
            time.sleep(0.01)
        time.sleep(0.3)  # some iterations
        process.send_signal(number)
        return process.communicate(timeout=60)

    def test_best_iterate_is_saved(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("--model", "m.npz", "--json", "run.json")
            stdout, stderr = self.interrupt(process, number)
            self.assertEqual(process.returncode, 130, stderr)
            self.assertIn("interrupted", stderr)
            self.assertRegex(stdout, "certified:|no useful bound yet")  # a slow build may not have come to one
            run = parse_strict((self.folder / "run.json").read_text())
            self.assertEqual(run["status"], "interrupted")
            self.assertGreater(run["iterations"], 0)
            self.check_run(run)
            self.assertEqual(load_model(self.folder / "m.npz")["matrix"].shape, (30, 20))
            self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["m.npz", "ratings.tsv", "run.json"])

    def test_who_ignores_an_interrupt_goes_on_doing_so(self):
        """Background jobs of a script are started with SIGINT ignored."""
        command = [
            PROGRAM,
            "complete",
            self.ratings(),
            "--radius",
            "40",
            "--iterations",
            "1000000",
            "--time",
            "1.5",
            "--json",
            "run.json",
        ]
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )
        while not listens_to(process.pid, signal.SIGTERM):
            self.assertIsNone(process.poll(), "the run should still be going")
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, stderr)
        self.assertEqual(parse_strict((self.folder / "run.json").read_text())["status"], "time_limit")

    def test_time_limit(self):
        begin = time.monotonic()
        run = self.run_json("complete", self.ratings(), "--radius", 40, "--iterations", 1000000, "--time", 0.3)
        self.assertEqual(run["status"], "time_limit")
        self.assertLess(time.monotonic() - begin, 20)


if __name__ == "__main__":
    import unittest

    unittest.main()
