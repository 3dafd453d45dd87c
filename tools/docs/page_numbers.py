#!/usr/bin/env python3
"""Puts numbers that commands make into the pages, so that each stands where its command put it.

Usage: page_numbers.py [--check] [--data DIR] [PAGE...]

A page holds regions

    <!-- numbers within 20 %: COMMAND -->
    ...
    <!-- end -->

The command's output, Markdown, takes the place of what is between, with the day and the machine. Commands run in the
root of the repository; one that names DATA needs --data. --check runs those that say within how many per cent numbers
must agree, changes nothing, and fails where they do not. Rows of tables are known by their first two cells; those that
this machine cannot make are left alone.
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
REGION = re.compile(r"(<!-- numbers(?: within (\d+) %)?: (.*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e-?\d+)?")


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def machine():
    names = re.findall(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    model = re.sub(r"\(R\)|\(TM\)| CPU| Processor", "", names[0] if names else platform.machine())
    return f"{datetime.date.today().isoformat()}, {os.cpu_count()} cores, {model.strip()}"


def output(command, data):
    done = subprocess.run(
        command.replace("DATA", str(data)), shell=True, cwd=ROOT, text=True, capture_output=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout.strip()


def rows(text):
    """{first two cells: numbers of the others} of a table."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) > 2 and not set(line) <= set("|-: "):
            found[tuple(cells[:2])] = [float(n.replace(",", "")) for cell in cells[2:] for n in NUMBER.findall(cell)]
    return found


def differences(written, made, share):
    before, after = rows(written), rows(made)
    if not before.keys() & after.keys():
        yield "the page has no row that the command makes"
    for key in before.keys() & after.keys():
        pairs = itertools.zip_longest(before[key], after[key], fillvalue=float("inf"))
        if not all(abs(a - b) <= share * max(abs(a), abs(b)) for a, b in pairs):
            yield f"{' '.join(key)}: the page has {before[key]}, the command {after[key]}"


def check(path, text, data):
    problems = []
    for match in REGION.finditer(text):
        if match.group(2) and ("DATA" not in match.group(3) or data):
            made = output(match.group(3), data)
            problems += differences(match.group(4), made, int(match.group(2)) / 100)
    return [f"{path.relative_to(ROOT)}: {problem}" for problem in problems]


def updated(text, data):
    def fill(match):
        if "DATA" in match.group(3) and not data:
            print(f"left as it is, for want of --data: {match.group(3)}")
            return match.group(0)
        made = f"{output(match.group(3), data)}\n\n*Put here by `make docs-numbers`: {machine()}.*\n"
        return match.group(1) + made + match.group(5)

    return REGION.sub(fill, text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--data", type=pathlib.Path)
    arguments = parser.parse_args()
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
