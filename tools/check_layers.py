#!/usr/bin/env python3
"""Layers look downward only.

tools/check_layers.py                    reads every #include, and the imports of the Python package
tools/check_layers.py --symbols BUILD    reads the object files of a finished build: a function may be declared anywhere,
                                         so what a layer really needs from others is known when it is linked
"""

import ast
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = [
    "base",
    "losses",
    "kernels",
    "linalg",
    "model",
    "seam",
    "cpu",
    "cuda",
    "distributed",
    "solver",
    "methods",
    "fit",
    "verify",
    "io",
    "report",
    "apps",
    "python",
]
SIDE_BY_SIDE = [{"cpu", "cuda"}, {"io", "report"}, {"apps", "python"}]  # neither may look at the other
SEES_ONLY = {"python": {"io", "report"}, "verify": {"base", "linalg"}}  # of what is below, beside the public headers
# Who verifies a claim must not use the code that made it: of layers below, these alone may be called.
CALLS_ONLY = {
    "verify": re.compile(r"tracenorm::(lapack::|Execution::|SparsePattern::SparsePattern|LowRankMatrix::LowRankMatrix)")
}
# The lowest layer that may include each public header.
PUBLIC = {
    "base": ["array", "dense_values", "error", "field", "ranks", "state", "types", "version"],
    "losses": ["loss", "losses/*"],
    "linalg": ["low_rank_matrix", "observations"],
    "model": ["constraint", "model", "penalty", "preparation", "problem", "spread"],
    "seam": ["certificate"],
    "distributed": ["mpi"],
    "methods": ["checkpoint", "methods/*", "options", "radius_path", "run", "solve", "sparse_estimate", "width"],
    "fit": ["covariance", "fit", "fold_in"],
    "verify": ["claim", "verify"],
    "io": ["io"],
    "apps": ["tracenorm"],
}
# Libraries that only certain layers may know.
CONFINED = {
    "thread": {"base"},
    "nlohmann/": {"io", "report", "apps"},
    "CLI/": {"apps"},
    "archive.h": {"io"},
    "zlib.h": {"io"},
    "cblas.h": {"linalg"},
    "cuda_runtime_api.h": {"cuda"},
    "lapacke.h": {"linalg"},
    "mpi.h": {"distributed"},
    "nanobind/": {"python"},
}


def looks_up(layer, other):
    """Whether `layer` must not know `other`."""
    if layer == other:
        return False
    return LAYERS.index(other) > LAYERS.index(layer) or {layer, other} in SIDE_BY_SIDE


def layer_of_public(name):
    """The layer of the public header tracenorm/NAME; None when nobody has said."""
    path = pathlib.PurePath(name.removesuffix(".in")).with_suffix("")
    return next((layer for layer, names in PUBLIC.items() if any(path.match(pattern) for pattern in names)), None)


def includes():
    """Every #include of ours: path, line number, layer of the file, what it includes."""
    for top in ("include/tracenorm", "src", "apps", "python/src"):
        for path in sorted((ROOT / top).rglob("*")):
            if not path.name.endswith((".cpp", ".hpp", ".inc", ".hpp.in", ".cu", ".cuh")):
                continue
            below = path.relative_to(ROOT / top)
            layer = {
                "include/tracenorm": layer_of_public(str(below)),
                "src": below.parts[0],
                "apps": "apps",
                "python/src": "python",
            }[top]
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = re.match(r'\s*#\s*include\s*[<"]([^">]+)[">]', line)
                if match:
                    yield path.relative_to(ROOT), number, layer, match.group(1)


def include_violations():
    for path in sorted((ROOT / "src").iterdir()):
        if path.is_dir() and path.name not in LAYERS:
            yield f"src/{path.name}: say in LAYERS of tools/check_layers.py where this layer stands"
    for path in sorted((ROOT / "include/tracenorm").rglob("*.hpp*")):
        if layer_of_public(str(path.relative_to(ROOT / "include/tracenorm"))) is None:
            yield f"{path.relative_to(ROOT)}: say in PUBLIC of tools/check_layers.py which layer this header belongs to"
    for path, number, layer, target in includes():
        where = f"{path}:{number}"
        head, _, rest = target.partition("/")
        public = head == "tracenorm" and rest
        other = layer_of_public(rest) if public else head if rest and head in LAYERS else None
        if layer not in LAYERS or (public and other is None):
            continue  # named above already, or not there at all: the compiler will say so
        if path.parts[0] == "include" and other and not public:
            yield f"{where}: public headers include public headers only, not '{target}'"
        elif other and looks_up(layer, other) and not (public and layer == "python"):
            yield f"{where}: layer '{layer}' must not include '{target}' of layer '{other}'"
        elif other and not public and other != layer and other not in SEES_ONLY.get(layer, LAYERS):
            yield f"{where}: '{layer}' includes public headers and {', '.join(sorted(SEES_ONLY[layer]))}, not '{target}'"
        for library, allowed in CONFINED.items():
            if target.startswith(library) and layer not in allowed:
                yield f"{where}: only {', '.join(sorted(allowed))} may include '{target}'"


def import_violations():
    """The estimators stand on the package; nothing of the package but its door, __init__, knows them."""
    package = ROOT / "python/tracenorm"
    for path in sorted(package.glob("_*.py")):
        if path.name == "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            module = getattr(node, "module", None) or ""
            names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            if "estimators" in module.split(".") or "estimators" in ".".join(names).split("."):
                yield f"{path.relative_to(ROOT)}:{node.lineno}: the package must not import its estimators"


def symbol_violations(build):
    """What is called but not defined in an object file must be defined in the same layer or a lower one."""
    build = pathlib.Path(build)
    objects = {}
    # Those that the build still makes: a renamed source leaves its old object behind.
    for name in re.findall(r"^build (\S+\.o):", (build / "build.ninja").read_text(), re.MULTILINE):
        # A folder's files may be one unit, named by the folder.
        layer = re.match(r"src/CMakeFiles/\w+\.dir/(?:Unity/unity_)?([a-z]+)[/_]|(apps)/", name)
        if layer:
            objects[str(build / name)] = layer.group(1) or layer.group(2)
    missing = next((path for path in objects if not pathlib.Path(path).exists()), None)
    if missing or not objects:
        sys.exit(f"check_layers.py: {missing or 'every object file'} is missing; build everything in {build} first")
    names = subprocess.run(["nm", "-A", "-P", "-C", *objects], check=True, stdout=subprocess.PIPE, text=True).stdout
    defined = {}
    wanted = collections.defaultdict(set)
    for line in names.splitlines():
        # "file: name type value size"; a demangled name has spaces, types are one letter. Weak ones are in every user's file.
        match = re.match(r"(\S+?): (.+) ([A-Za-z])(?: [0-9a-f]*)* *$", line)
        path, name, kind = match.groups()
        if kind in "TDBR" and not name.startswith(("operator new", "operator delete")):  # a program may replace those
            defined[name] = objects[path]
        elif kind == "U":
            wanted[name].add(path)
    for name, users in sorted(wanted.items()):
        for path in sorted(users):
            layer = objects[path]
            strange = layer in CALLS_ONLY and defined.get(name) != layer and not CALLS_ONLY[layer].match(name)
            if name in defined and (strange or looks_up(layer, defined[name])):
                source = path.split(".dir/")[-1].removesuffix(".o")
                yield f"{source}: layer '{layer}' must not call '{name}' of layer '{defined[name]}'"


def main():
    if sys.argv[1:2] == ["--symbols"] and len(sys.argv) == 3:
        found, good = list(symbol_violations(sys.argv[2])), "layers: every call that is linked looks downward"
    elif len(sys.argv) == 1:
        found, good = [*include_violations(), *import_violations()], "layers: every include looks downward"
    else:
        sys.exit(__doc__)
    print("\n".join(found) or good)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
