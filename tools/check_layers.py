#!/usr/bin/env python3
"""Layers look downward only: reads every #include under src/ and apps/ and fails on a forbidden arrow."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = ["base", "kernels", "linalg", "model", "evaluators", "methods", "io", "report", "apps"]
SIDE_BY_SIDE = {"io", "report"}  # neither may look at the other
# Libraries that only certain layers may know.
CONFINED = {
    "thread": {"base"},
    "nlohmann/": {"io", "report", "apps"},
    "CLI/": {"apps"},
    "zip.h": {"io"},
    "zlib.h": {"io"},
    "lzma.h": {"io"},
    "cblas.h": {"linalg", "evaluators", "methods"},
    "lapacke.h": {"linalg", "evaluators", "methods"},
}


def layer_of(path):
    parts = path.relative_to(ROOT).parts
    return "apps" if parts[0] == "apps" else parts[1]


def violations():
    sources = [p for top in ("src", "apps") for p in (ROOT / top).rglob("*") if p.suffix in {".cpp", ".hpp", ".inc"}]
    for path in sorted(sources):
        layer = layer_of(path)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*[<"]([^">]+)[">]', line)
            if not match:
                continue
            target = match.group(1)
            where = f"{path.relative_to(ROOT)}:{number}"
            head = target.split("/")[0]
            if head in LAYERS and "/" in target and head != layer:
                upward = LAYERS.index(head) > LAYERS.index(layer)
                sideways = {head, layer} == SIDE_BY_SIDE
                if upward or sideways:
                    yield f"{where}: layer '{layer}' must not include '{target}'"
            for library, allowed in CONFINED.items():
                if target.startswith(library) and layer not in allowed:
                    yield f"{where}: only {', '.join(sorted(allowed))} may include '{target}'"
    for path in sorted((ROOT / "include").rglob("*.hpp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            if match and not match.group(1).startswith("tracenorm/"):
                yield f"{path.relative_to(ROOT)}:{number}: public headers include public headers only, not '{match.group(1)}'"


def main():
    found = list(violations())
    for violation in found:
        print(violation)
    if not found:
        print("layers: every include looks downward")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
