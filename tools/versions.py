#!/usr/bin/env python3
"""The version is what the file VERSION says. CMake, pip and Conan read it there; formats that cannot have a copy, which
is compared here.

Usage: versions.py            fails where a copy disagrees
       versions.py --update   writes VERSION into the copies
       versions.py --notes    what CHANGELOG.md says about this version; fails where it says nothing
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
VERSION = (ROOT / "VERSION").read_text().strip()
COPIES = {
    "CITATION.cff": re.compile(r"(?m)^(version: )(\S+)$"),
    "packaging/vcpkg/ports/tracenorm/vcpkg.json": re.compile(r'("version": ")([^"]+)'),
}


def copies():
    return {name: pattern.search((ROOT / name).read_text()).group(2) for name, pattern in COPIES.items()}


def disagreements(version=VERSION):
    return [f"{name} says {copy}, VERSION says {version}" for name, copy in copies().items() if copy != version]


def notes(version=VERSION):
    """The section "## [0.1.0] - 2026-11-20" of the changelog, without its title; None where there is none."""
    text = (ROOT / "CHANGELOG.md").read_text()
    match = re.search(rf"(?ms)^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## \[|\Z)", text)
    return match.group(1).strip() if match else None


def main():
    if "--update" in sys.argv:
        for name, pattern in COPIES.items():
            path = ROOT / name
            path.write_text(pattern.sub(rf"\g<1>{VERSION}", path.read_text(), count=1))
    if "--notes" in sys.argv:
        found = notes()
        sys.exit(f"CHANGELOG.md has no section '## [{VERSION}] - YYYY-MM-DD' with text") if not found else print(found)
    found = disagreements()
    sys.exit("\n".join(found) + "\nWrite VERSION into them with tools/versions.py --update" if found else 0)


if __name__ == "__main__":
    main()
