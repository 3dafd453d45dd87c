#!/usr/bin/env python3
"""Puts the licences of everything that a wheel holds beside our own. Usage: add_licenses.py UNPACKED_WHEEL [cuda]

The libraries that auditwheel copied are looked up by their names, what was linked statically or compiled from headers
is listed here; Debian has the licence of every package.
"""

import pathlib
import re
import subprocess
import sys

LINKED = [
    "libarchive-dev",
    "liblapacke-dev",
    "liblzma-dev",
    "nettle-dev",
    "zlib1g-dev",
    "libeigen3-dev",
    "nlohmann-json3-dev",
]

CUDA = """The CUDA runtime (cudart), linked statically: NVIDIA CUDA Toolkit End User License Agreement, whose list of
what may be redistributed has it (docs.nvidia.com/cuda/eula). CUB, of which kernels are made: Apache License 2.0 with
LLVM exceptions, and the BSD 3-clause licence (github.com/NVIDIA/cccl)."""


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def package_of(library):
    """libfmt-4f700944.so.9.1.0: the package that has libfmt.so.9.1.0."""
    name = re.sub(r"-[0-9a-f]{8}(?=\.)", "", library)
    return output("dpkg-query", "--search", f"*/{name}").split(":")[0]


def main():
    root, *backends = sys.argv[1:]
    root = pathlib.Path(root)
    packages = {package_of(path.name) for path in root.glob("*.libs/*")} | set(LINKED)
    texts = {name: pathlib.Path(f"/usr/share/doc/{name}/copyright").read_text() for name in packages}
    [nanobind] = pathlib.Path(sys.prefix).glob("lib/python*/site-packages/nanobind-*.dist-info")
    texts["nanobind"] = "\n".join(path.read_text() for path in nanobind.rglob("LICENSE*"))
    if "cuda" in backends:
        texts["cuda"] = CUDA
    for name, text in texts.items():
        if not text.strip():
            sys.exit(f"add_licenses.py: no licence of {name} was found")
    [licenses] = root.glob("*.dist-info/licenses")
    rule = "=" * 78
    parts = [f"{rule}\n{name}\n{rule}\n\n{texts[name].strip()}\n" for name in sorted(texts)]
    (licenses / "BUNDLED.txt").write_text(
        "What this wheel holds beside tracenorm, and under which licences.\n\n" + "\n".join(parts)
    )


if __name__ == "__main__":
    main()
