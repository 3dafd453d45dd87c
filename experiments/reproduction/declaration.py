"""An experiment as its file declares it: cases, methods as commands of the program, measures, the paper's numbers."""

import json

from . import fail

REQUIRED = {
    "cases": ("name",),
    "methods": ("name", "title", "command"),
    "measures": ("name", "title", "value"),
    "comparisons": ("method", "with", "measures"),
    "protocol": ("point", "paper", "chosen"),
}


def merged(document, patch):
    """RFC 7386: members of the patch replace those of the document, null removes one."""
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def load_experiment(path, quick=False):
    """The declaration with its defaults filled in; with `quick`, with its smaller sizes."""
    try:
        experiment = json.loads(path.read_text())
    except OSError as error:
        fail(f"--declaration: cannot read '{path}': {error.strerror}")
    except ValueError as error:
        fail(f"{path}: not JSON: {error}")
    if quick:
        experiment = merged(experiment, experiment.get("quick", {}))
    check(experiment, lambda good, what: good or fail(f"{path}: {what}"))
    for name, default in (("text", []), ("values", {}), ("prepare", []), ("paper", {}), ("differences", [])):
        experiment.setdefault(name, default)
    for case in experiment["cases"]:
        case.setdefault("title", case["name"])
        case.setdefault("values", {})
    return experiment


def check(experiment, require):
    """A slip in a name would silently leave something out."""
    for name in ("name", "title"):
        require(isinstance(experiment.get(name), str), f'"{name}" must be there and be text')
    for name, members in REQUIRED.items():
        part = experiment.setdefault(name, [])
        good = isinstance(part, list) and (part or name in ("comparisons", "protocol"))
        require(good, f'"{name}" must be a list that is not empty')
        for place, one in enumerate(part):
            for member in members:
                require(member in one, f'{name}[{place}] lacks "{member}"')
    for one in (experiment, *experiment["cases"], *experiment["methods"]):
        seeds = one.get("seeds", 1)
        require(seeds in range(1, 1001), f'"seeds" of {one["name"]} is {seeds}; a whole number from 1 was expected')
    methods, measures = ({one["name"] for one in experiment[part]} for part in ("methods", "measures"))
    for name in [name for case in experiment["cases"] for name in case.get("methods", [])]:
        require(name in methods, f"there is no method '{name}'")
    for comparison in experiment["comparisons"]:
        for name in [comparison["method"], *comparison["with"]]:
            require(name in methods, f"there is no method '{name}'")
        for name in comparison["measures"]:
            require(name in measures, f"there is no measure '{name}'")
