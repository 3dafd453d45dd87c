"""Pipes and standard input: every command reads a stream once, from its first byte to its last."""

import gzip
import os
import subprocess
import threading

from support import PROGRAM, ProgramTest


class PipesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.data = self.ratings(rows=150, cols=60)  # well over the 4 KiB that are looked at to find the format
        self.text = (self.folder / self.data).read_bytes()
        self.assertGreater(len(self.text), 8192)
        self.options = ("--radius", 8, "--iterations", 5)

    def piped(self, data, *arguments):
        done = subprocess.run(
            [PROGRAM, *map(str, arguments)], cwd=self.folder, input=data, capture_output=True, timeout=120
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def fifo(self, name, data):
        """A named pipe that gives these bytes once."""
        path = self.folder / name
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=(data,), daemon=True)
        writer.start()
        self.addCleanup(writer.join, 10)
        return name

    def observed(self, text):
        return next(line for line in text.splitlines() if line.startswith("data")).split(": ")[1]

    def test_complete(self):
        expected = self.observed(self.succeed("complete", self.data, *self.options).stdout)
        for name in ("/dev/stdin", "-"):
            self.assertEqual(self.observed(self.piped(self.text, "complete", name, *self.options)), expected)
        self.assertEqual(self.observed(self.piped(gzip.compress(self.text), "complete", "-", *self.options)), expected)
        self.assertEqual(
            self.observed(self.succeed("complete", self.fifo("pipe", self.text), *self.options).stdout), expected
        )

    def test_links_and_denoise(self):
        graph = self.edges(nodes=90)
        expected = self.observed(self.succeed("links", graph, *self.options).stdout)
        data = (self.folder / graph).read_bytes()
        self.assertGreater(len(data), 8192)
        self.assertEqual(self.observed(self.piped(data, "links", "-", *self.options)), expected)
        matrix = self.matrix(rows=60, cols=40)
        expected = self.observed(self.succeed("denoise", matrix, *self.options).stdout)
        self.assertEqual(
            self.observed(self.piped((self.folder / matrix).read_bytes(), "denoise", "-", *self.options)), expected
        )

    def test_evaluate(self):
        options = (*self.options, "--folds", 2, "--json", "scores.json", "--quiet")
        self.succeed("evaluate", self.data, *options)
        expected = (self.folder / "scores.json").read_text().replace(self.data, "-")
        self.piped(self.text, "evaluate", "-", *options)
        self.assertEqual((self.folder / "scores.json").read_text(), expected)

    def test_predict_and_recommend(self):
        self.succeed("complete", self.data, *self.options, "--model", "m.npz")
        expected = self.succeed("predict", "m.npz", self.data).stdout
        self.assertEqual(self.piped(self.text, "predict", "m.npz", "-"), expected)
        self.assertEqual(
            self.succeed("predict", self.fifo("model", (self.folder / "m.npz").read_bytes()), self.data).stdout,
            expected,
        )
        expected = self.succeed("recommend", "m.npz", "--row", "user0", "--top", 50, "--seen", self.data).stdout
        self.assertEqual(
            self.piped(self.text, "recommend", "m.npz", "--row", "user0", "--top", 50, "--seen", "-"), expected
        )

    def test_standard_input_is_read_once(self):
        self.fail_with(2, "complete", "-", "--test", "-", *self.options, says=("-", "standard input"))


if __name__ == "__main__":
    import unittest

    unittest.main()
