"""The file VERSION is the one place that says the version; what cannot read it agrees with it."""

import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from versions import VERSION, copies, disagreements  # noqa: E402


class Versions(unittest.TestCase):
    def test_copies_agree(self):
        self.assertEqual(disagreements(), [])

    def test_a_stale_copy_is_found(self):
        self.assertEqual(len(disagreements(version="99.9.9")), len(copies()))

    def test_program(self):
        said = subprocess.run(
            [os.environ["TRACENORM_PROGRAM"], "--version"], check=True, capture_output=True, text=True
        ).stdout
        self.assertEqual(said.strip(), f"tracenorm {VERSION}")


if __name__ == "__main__":
    unittest.main()
