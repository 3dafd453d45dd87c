#!/usr/bin/env python3
"""Runs every notebook of a folder from its first cell to its last, and fails where a cell does.

Usage: run_notebooks.py FOLDER OUT

OUT gets the notebooks with their outputs, for the pages of the site (`page`). In FOLDER nothing is written: notebooks
are committed without outputs.
"""

import base64
import json
import pathlib
import re
import sys
import tempfile
import time

import nbformat
from nbclient import NotebookClient

STYLE = re.compile(
    r"<style.*?</style>| border=\"1\"| class=\"dataframe\"", re.DOTALL
)  # of pandas; the site has its own


def run(path, out):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    if any(cell.get("outputs") for cell in notebook.cells):
        sys.exit(f"{path}: has outputs; clear them before it is committed")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources=place).execute()
    nbformat.write(notebook, out / path.name)
    pictures = write_pictures(path, out)
    print(f"{path.name}: {len(notebook.cells)} cells, {pictures} pictures, {time.monotonic() - begin:.0f} s")
    if not pictures:
        sys.exit(f"{path}: draws nothing")


def outputs(cell):
    """(kind, content) of what a code cell left: a picture as bytes, a table as HTML, else text."""
    for output in cell.get("outputs", []):
        data = {kind: "".join(content) for kind, content in output.get("data", {}).items()}
        if "image/png" in data:
            yield "picture", base64.b64decode(data["image/png"])
        elif "text/html" in data:
            yield "table", STYLE.sub("", data["text/html"])
        else:
            yield "text", "".join(output["text"]) if "text" in output else data["text/plain"]


def write_pictures(path, out):
    """Their number."""
    notebook = json.loads((out / path.name).read_text(encoding="utf-8"))
    pictures = [content for cell in notebook["cells"] for kind, content in outputs(cell) if kind == "picture"]
    for number, content in enumerate(pictures):
        (out / f"{path.stem}-{number}.png").write_bytes(content)
    return len(pictures)


def page(path, text):
    """A notebook that was run, as a page; its pictures are files beside it."""
    name, parts, pictures = pathlib.Path(path).stem, [], 0
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"~~~~python\n{source}\n~~~~")
        for kind, content in outputs(cell):
            if kind == "picture":
                parts.append(f"![{name}, picture {pictures + 1}]({name}-{pictures}.png)")
                pictures += 1
            else:
                parts.append(content if kind == "table" else f"~~~~{{.text .output}}\n{content.rstrip()}\n~~~~")
    parts.insert(1, f"*The notebook {path}, as it ran when this site was built.*")
    return "\n\n".join(parts)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    notebooks, out = sorted(pathlib.Path(sys.argv[1]).glob("*.ipynb")), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for path in notebooks:
        run(path, out)
    return 0 if notebooks else 1


if __name__ == "__main__":
    sys.exit(main())
