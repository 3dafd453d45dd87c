#!/usr/bin/env python3
"""Puts numbers that commands make into the pages, so that each stands where its command put it.

Usage: page_numbers.py [--check] [--data DIR] [PAGE...]

A page holds regions

    <!-- numbers within 20 %: COMMAND -->
    ...
    <!-- end -->

The command's output, Markdown, takes the place of what is between, with the day and the machine; where the page agrees
with it already, nothing is changed. Rows of tables are known by their first two cells; those that the command does not
make here (of another machine, another package) stay. "numbers exactly: COMMAND" stands for text that does not depend on
the day or the machine. Commands run in the root of the repository; one that names DATA needs --data.

--check runs those that say how well they must agree, changes nothing, and fails where they do not. Columns whose title
speaks of seconds are compared within a factor of two, MB within a quarter: they depend on the machine and its other
work.
"""

import argparse
import datetime
import itertools
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REGION = re.compile(r"(<!-- numbers(?: within (\d+) %| (exactly))?: (.*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e-?\d+)?")
MAY_DIFFER = {"second": 0.5, "MB": 0.25}  # by a word of the column's title


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def machine():
    names = re.findall(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    model = re.sub(r"\(R\)|\(TM\)| CPU| Processor", "", names[0] if names else platform.machine())
    return f"{datetime.date.today().isoformat()}, {os.cpu_count()} cores, {model.strip()}"


def stamp(partly):
    others = "; the other rows are older" if partly else ""
    return f"\n\n*Put here by `make docs-numbers`: {machine()}{others}.*\n"


def without_stamp(text):
    return re.sub(r"\n\n\*Put here by [^\n]*\n$", "", text)


def output(command, data):
    done = subprocess.run(
        command.replace("DATA", str(data)), shell=True, cwd=ROOT, text=True, capture_output=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout.strip()


def cells_of(line):
    """Those of a row of a table; None for other lines."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return cells if line.startswith("|") and len(cells) > 2 and not set(line) <= set("|-: ") else None


def rows(text):
    """{first two cells: (title of the column, number) of the others} of a table."""
    found, titles = {}, None
    for line in text.splitlines():
        cells = cells_of(line)
        if cells is None:
            continue
        titles = titles or cells
        numbers = ((title, n) for title, cell in zip(titles[2:], cells[2:]) for n in NUMBER.findall(cell))  # noqa: B905
        found[tuple(cells[:2])] = [(title, float(n.replace(",", ""))) for title, n in numbers]
    return found


def differences(written, made, share):
    before, after = rows(written), rows(made)
    if not before.keys() & after.keys():
        yield "the page has no row that the command makes"
    for key in before.keys() & after.keys():
        for one, other in itertools.zip_longest(before[key], after[key], fillvalue=("", float("inf"))):
            allowed = next((more for word, more in MAY_DIFFER.items() if word in one[0]), share)
            if not abs(one[1] - other[1]) <= allowed * max(abs(one[1]), abs(other[1])):
                yield f"{' '.join(key)}: {one[0]}: the page has {one[1]:g}, the command {other[1]:g}"


def disagreements(match, made):
    _, percent, exactly, _, written, _ = match.groups()
    if percent:
        return list(differences(written, made, int(percent) / 100))
    if exactly and written != f"\n{made}\n\n":
        return ["the page is not what the command makes"]
    return []


def check(path, text, data):
    problems = []
    for match in REGION.finditer(text):
        _, percent, exactly, command, _, _ = match.groups()
        if (percent or exactly) and ("DATA" not in command or data):
            problems += disagreements(match, output(command, data))
    return [f"{path.relative_to(ROOT)}: {problem}" for problem in problems]


def merged(written, made):
    """What was made, and the rows of the page's table that were not."""
    lines, fresh = [], {tuple(cells[:2]): line for line in made.splitlines() if (cells := cells_of(line))}
    if not fresh.keys() & rows(written).keys() or not set(rows(written)) - set(fresh):
        return made
    for line in written.splitlines():
        cells = cells_of(line)
        lines.append(fresh.pop(tuple(cells[:2]), line) if cells else line)
    return "\n".join([*lines, *fresh.values()])


def updated(text, data):
    def fill(match):
        opening, percent, exactly, command, written, end = match.groups()
        if "DATA" in command and not data:
            print(f"left as it is, for want of --data: {command}")
            return match[0]
        made = output(command, data)
        if exactly:
            return f"{opening}\n{made}\n\n{end}"
        whole = merged(without_stamp(written), made)
        same = not disagreements(match, whole) if percent else without_stamp(written) == whole
        same = same and set(rows(written)) == set(rows(whole))
        return match[0] if same else f"{opening}{whole}{stamp(whole != made)}{end}"

    return REGION.sub(fill, text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--data", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.data and not arguments.data.is_dir():
        parser.error(f"--data: '{arguments.data}' is not a folder")
    problems, regions = [], 0
    for path in [path.resolve() for path in arguments.pages] or pages():
        text = path.read_text(encoding="utf-8")
        regions += len(REGION.findall(text))
        if arguments.check:
            problems += check(path, text, arguments.data)
        elif REGION.search(text):
            path.write_text(updated(text, arguments.data), encoding="utf-8")
    print(*problems, f"{regions} regions", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
