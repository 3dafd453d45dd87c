#!/usr/bin/env python3
"""Runs every notebook of a folder from its first cell to its last, and fails where a cell does. Nothing is written.

Usage: run_notebooks.py FOLDER
"""

import pathlib
import sys
import tempfile
import time

import nbformat
from nbclient import NotebookClient


def main():
    notebooks = sorted(pathlib.Path(sys.argv[1]).glob("*.ipynb"))
    for path in notebooks:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        if any(cell.get("outputs") for cell in notebook.cells):
            sys.exit(f"{path}: has outputs; clear them before it is committed")
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            place = {"metadata": {"path": folder}}
            NotebookClient(notebook, timeout=600, kernel_name="python3", resources=place).execute()
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        drawn = sum("image/png" in output.get("data", {}) for output in outputs)
        print(f"{path.name}: {len(notebook.cells)} cells, {drawn} pictures, {time.monotonic() - begin:.0f} s")
        if not drawn:
            sys.exit(f"{path}: draws nothing")
    return 0 if notebooks else 1


if __name__ == "__main__":
    sys.exit(main())
