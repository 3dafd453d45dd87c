"""The program under mpirun."""

import os
import subprocess

from support import PROGRAM, ProgramTest

MPIRUN = os.environ["TRACENORM_MPIRUN"].split()


class RanksTest(ProgramTest):
    def command(self, ranks, *arguments):
        return [*MPIRUN, "-n", str(ranks), PROGRAM, *map(str, arguments)]

    def on_ranks(self, ranks, *arguments):
        return subprocess.run(
            self.command(ranks, *arguments), cwd=self.folder, capture_output=True, text=True, timeout=120
        )

    def check_error(self, ranks, code, says, *arguments):
        """That of one process, told once."""
        alone = self.fail_with(code, *arguments, says=says)
        done = self.on_ranks(ranks, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        told = [line for line in done.stderr.splitlines() if line.startswith("tracenorm: error: ")]
        self.assertEqual(told, alone.stderr.splitlines()[:1], done.stderr)
