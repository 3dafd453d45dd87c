#!/usr/bin/env python3
"""Counts what docs/architecture.md and docs/history.md say of the size of things, as rows of a table.

tools/count.py                   what a backend writes, the largest class, lines
tools/count.py --build FOLDER    also the seconds that a finished build of the program took to compile, one file after
                                 the other (from Ninja's log: build in a fresh folder, without a compiler cache)
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def lines(*tops):
    """Lines of the sources that git knows below some folders, tests left out."""
    names = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", *tops], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    sources = [name for name in names.split("\0") if name.endswith((".cpp", ".hpp", ".inc", ".hpp.in", ".py"))]
    return sum((ROOT / name).read_bytes().count(b"\n") for name in sources if not name.startswith("python/tests/"))


def classes():
    """Name and data members of every class: their names end with an underscore."""
    for path in sorted(
        [*(ROOT / "src").rglob("*.?pp"), *(ROOT / "include").rglob("*.hpp"), *(ROOT / "apps").rglob("*.?pp")]
    ):
        for match in re.finditer(r"^class (\w+)[^;{]*\{\n(.*?)^\};", path.read_text(), re.MULTILINE | re.DOTALL):
            body = re.sub(r"//.*|\breturn\b.*", "", match.group(2))
            yield match.group(1), re.findall(r"^  [\w:].*?\b(\w+_)(?: = [^;]*|\{[^;]*\})?;", body, re.MULTILINE)


def virtual_functions(*headers):
    """Those that a backend must write, and those that it may."""
    text = "".join((ROOT / "src/seam" / header).read_text() for header in headers)
    must = len(re.findall(r"\bvirtual\b.*= 0;", text))
    return must, len(re.findall(r"\bvirtual\b(?! ~)", text)) - must


def compile_seconds(folder):
    """By the last time that each file of the library and the program was compiled."""
    took = {}
    for line in (pathlib.Path(folder) / ".ninja_log").read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        if output.startswith(("src/", "apps/")) and output.endswith((".o", ".gch")):
            took[output] = (int(end) - int(begin)) / 1000
    return sum(took.values())


def main():
    if len(sys.argv) not in (1, 3) or sys.argv[1:2] not in ([], ["--build"]):
        sys.exit(__doc__)
    largest, members = max(classes(), key=lambda found: len(found[1]))
    must, may = virtual_functions("panels.hpp", "entry_store.hpp")
    print(f"| virtual functions that another backend would write | {must}, and `open`; it may write {may} more |")
    print(
        "| lines that another backend would write again |"
        f" {lines('tests/support/plain_backend.cpp')} (plain loops), {lines('src/cpu'):,} (the CPU's, tuned) |"
    )
    print(f"| data members of the largest class | {len(members)} (`{largest}`) |")
    print(f"| lines of `src`, `include`, `apps`, `python` | {lines('src', 'include', 'apps', 'python'):,} |")
    for folder in ("src", "include", "apps", "python"):
        print(f"| of these `{folder}` | {lines(folder):,} |")
    if len(sys.argv) == 3:
        print(f"| compiling the library and the program, file after file | {compile_seconds(sys.argv[2]):.0f} s |")


if __name__ == "__main__":
    main()
