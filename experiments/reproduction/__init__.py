"""The paper's experiments from declarations to a page; experiments/reproduce.py is the way in."""

import pathlib
import sys

EXPERIMENTS = pathlib.Path(__file__).resolve().parents[1]


def fail(message, code=3):
    """Ends the script with one line: 2 for the command line, 3 for bad input."""
    print(f"{pathlib.Path(sys.argv[0]).name}: error: {message}", file=sys.stderr)
    raise SystemExit(code)
