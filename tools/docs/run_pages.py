#!/usr/bin/env python3
"""Runs the pages of the site that show runs, so that what they show is what happens.

Usage: run_pages.py FOLDER [PAGE...] [--program PROGRAM] [--jobs N]

Blocks of a page marked ```sh or ```python are run in their order, in a folder of its own, FOLDER/PAGE: Python blocks in
one interpreter, shell blocks by `sh -e` with the program on the path. What they print is kept in outputs.json there;
figures of Matplotlib that a block leaves open, in files. A block marked ```python check or ```sh check is run and not
shown: it has the claims of the text around it. A block that fails ends it all, with its message.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [
    "start/program",
    "start/python",
    "tutorials/ratings",
    "tutorials/holes",
    "tutorials/links",
    "tutorials/covariance",
    "tutorials/radius",
    "tutorials/certificate",
    "tutorials/large-data",
]
BLOCK = re.compile(r"^```(sh|python)( check)?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def blocks(text):
    return [(m.group(1), bool(m.group(2)), m.group(3)) for m in BLOCK.finditer(text)]


def with_outputs(text, outputs, folder):
    """The page with each block followed by what it printed and drew; checks are left out."""
    left = iter(outputs)

    def shown(match):
        output = next(left)
        if match.group(2):
            return ""
        parts = [match.group(0)]
        if output["text"]:
            parts.append(f"~~~~{{.text .output}}\n{output['text']}\n~~~~\n")
        for picture in output["pictures"]:
            parts.append(f"![{picture['alt']}]({folder}/{picture['file']})\n")
        return "\n".join(parts)

    return BLOCK.sub(shown, text)


class Page:
    """One page being run; the interpreter's names last from block to block."""

    def __init__(self, folder):
        self.folder = folder
        self.names = {"__name__": "page"}

    def shell(self, code):
        """Standard output; progress and notes go elsewhere."""
        done = subprocess.run(["sh", "-ec", code], text=True, capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def python(self, code):
        import contextlib
        import io

        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, str(self.folder), "exec"), self.names)
        return said.getvalue()

    def pictures(self, number):
        """Figures that are open become files, and are closed."""
        plots = sys.modules.get("matplotlib.pyplot")
        found = []
        for place, figure in enumerate(plots.get_fignums() if plots else []):
            file = f"{number}-{place}.png"
            figure = plots.figure(figure)
            alt = figure.get_label() or "; ".join(filter(None, (axes.get_title() for axes in figure.axes)))
            figure.savefig(self.folder / file, dpi=110)
            found.append({"file": file, "alt": alt or "what the code above draws"})
        if plots:
            plots.close("all")
        return found


def run_page(name, folder, program):
    source = ROOT / "docs" / f"{name}.md"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ.setdefault("MPLBACKEND", "agg")
    os.environ["PATH"] = f"{program.parent}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    os.chdir(folder)
    page = Page(folder)
    outputs = []
    for number, (language, _, code) in enumerate(blocks(source.read_text(encoding="utf-8"))):
        try:
            text = page.shell(code) if language == "sh" else page.python(code)
        except BaseException as error:
            what = f"{type(error).__name__}: {error}"
            raise RuntimeError(f"{name}.md, block {number + 1} ({language}):\n{code}\n{what}") from error
        outputs.append({"text": text.rstrip(), "pictures": page.pictures(number)})
    (folder / "outputs.json").write_text(json.dumps(outputs, indent=1))
    return name, len(outputs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "bin" / "tracenorm")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    folder, program = arguments.folder.resolve(), arguments.program.resolve()
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs, max_tasks_per_child=1) as pool:
        runs = [pool.submit(run_page, page, folder / page, program) for page in arguments.pages or PAGES]
        failed = 0
        for run in concurrent.futures.as_completed(runs):
            if run.exception():
                failed += 1
                print(run.exception(), file=sys.stderr)
            else:
                print("ran {}: {} blocks".format(*run.result()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
