"""Where results go: standard output stays pure, and nothing is lost to a wrong path or a full disk."""

import os
import pty
import resource
import subprocess

from support import PROGRAM, ProgramTest, load_model, parse_strict


def drain(terminal):
    """All that is written to a pseudo-terminal until its other end is closed."""
    text = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # how Linux says that nobody is left to write
            part = b""
        if not part:
            os.close(terminal)
            return text.decode()
        text += part


class OutputTest(ProgramTest):
    def test_json_on_stdout_is_alone(self):
        data = self.ratings()
        done = self.succeed("complete", data, "--radius", 15, "--split", "0.6,0.2,0.2", "--json", "-")
        self.check_run(parse_strict(done.stdout))
        self.assertEqual(done.stderr, "")

    def test_quiet_is_silent(self):
        done = self.succeed("complete", self.ratings(), "--radius", 15, "--quiet", "--model", "m.npz")
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        load_model(self.folder / "m.npz")

    def test_unwritable_outputs_are_found_before_the_work(self):
        data = self.ratings()
        before = sorted(self.folder.iterdir())
        (self.folder / "folder").mkdir()
        for option in ("--model", "--json"):
            for path in ("nowhere/out", "folder", f"{data}/out"):
                self.fail_with(
                    3, "complete", data, "--radius", 15, "--iterations", 10**6, option, path, says=(option, path)
                )
        self.fail_with(2, "complete", data, "--radius", 15, "--model", "x", "--json", "./x", says=("--model", "--json"))
        self.fail_with(2, "complete", data, "--radius", 15, "--model", data, says=("--model", "overwritten"))
        (self.folder / "folder").rmdir()
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_a_device_takes_everything(self):
        self.succeed("complete", self.ratings(), "--radius", 15, "--json", "/dev/null", "--report", "/dev/null", "-q")

    def test_only_text_goes_to_standard_output(self):
        self.fail_with(2, "complete", self.ratings(), "--radius", 15, "--model", "-", says=("--model", "a file"))
        self.fail_with(2, "generate", "covariance", "-", says="a file")

    def test_a_numerical_failure_keeps_the_old_model(self):
        self.write("m.npz", "precious")
        self.fail_with(
            4,
            "complete",
            self.ratings(),
            "--radius",
            1e200,
            "--loss",
            "squared",
            "--model",
            "m.npz",
            "--json",
            "run.json",
            says="numerical failure",
        )
        self.assertEqual((self.folder / "m.npz").read_text(), "precious")
        run = parse_strict((self.folder / "run.json").read_text())
        self.assertEqual(run["status"], "numerical_failure")
        self.assertIsNone(run["objective"])  # JSON has no NaN

    def test_full_disk(self):
        data = self.ratings()
        self.write("m.npz", "precious")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        done = self.fail_with(3, "complete", data, "--radius", 15, "--model", "m.npz", says="m.npz", preexec_fn=limit)
        self.assertIn("certified:", done.stdout)  # the summary is not lost with the model
        self.assertIn("troubleshooting#writing", done.stderr)
        self.assertEqual((self.folder / "m.npz").read_text(), "precious")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["m.npz", data])

    def test_full_standard_output(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("needs /dev/full")
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [PROGRAM, "complete", self.ratings(), "--radius", "15", "--json", "-"],
                cwd=self.folder,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
            )
        self.assertEqual(done.returncode, 3)
        self.assertIn("standard output", done.stderr)
        self.assertIn("troubleshooting#writing", done.stderr)

    def test_an_old_output_is_replaced(self):
        self.write("run.json", "old")
        self.succeed("complete", self.ratings(), "--radius", 15, "--json", "run.json", "--quiet")
        self.check_run(parse_strict((self.folder / "run.json").read_text()))

    def test_progress_bar_on_a_terminal_only(self):
        data = self.ratings()
        terminal, end = pty.openpty()
        process = subprocess.Popen(
            [PROGRAM, "complete", data, "--radius", "15", "--iterations", "3000"],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=end,
        )
        os.close(end)
        drawn = drain(terminal)
        stdout, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        for word in ("[", "/3000", "objective", "gap", "rank"):
            self.assertIn(word, drawn)
        self.assertTrue(drawn.endswith("\r\x1b[K"), "the bar is wiped at the end")
        self.assertNotIn(b"\r", stdout)


if __name__ == "__main__":
    import unittest

    unittest.main()
