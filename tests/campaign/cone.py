#!/usr/bin/env python3
"""Holds the bounds of the campaign's smallest problems against a cone solver.

    build/bin/tracenorm_campaign --problems 2000 --small small.jsonl
    python3 -m venv VENV && VENV/bin/pip install -r tests/fixtures/requirements.txt
    VENV/bin/python tests/campaign/cone.py small.jsonl

The solver's optimum is known to its accuracy only; a bound above it, or a best objective below it, by more than 1e-6 of
its size is a violation. Prints how many there were, and how many answers came within 0.1 % of the solver's.
"""

import json
import pathlib
import sys

import cvxpy as cp
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fixtures"))
from losses import LOSSES, split


def optimum(problem):
    shape = (problem["rows"], problem["cols"])
    data = np.array([np.nan if y is None else y for y in problem["values"]]).reshape(shape)
    seen = np.nonzero(~np.isnan(data))
    holes = np.nonzero(np.isnan(data))
    symmetry = problem.get("symmetry", "none")
    x = cp.Variable(shape, symmetric=symmetry != "none")
    kind, parameter = split(problem["loss"])
    objective = cp.sum(LOSSES[kind].expression(x[seen], data[seen], parameter))
    penalty, price = split(problem["penalty"])
    if penalty == "l1":
        objective += price * cp.sum(cp.abs(x))
    if penalty == "complement-squared" and holes[0].size:
        objective += price * cp.sum_squares(x[holes])
    bounds = [x >> 0, cp.trace(x) <= problem["radius"]] if symmetry == "psd" else [cp.normNuc(x) <= problem["radius"]]
    solved = cp.Problem(cp.Minimize(objective), bounds)
    solved.solve(solver=cp.CLARABEL)
    return solved.value if solved.status == "optimal" else None


def main(path):
    counts = {"problems": 0, "without an optimum": 0, "bounds violated": 0, "objectives below": 0, "within 0.1 %": 0}
    for line in pathlib.Path(path).read_text().splitlines():
        problem = json.loads(line)
        found = optimum(problem)
        if found is None:
            counts["without an optimum"] += 1
            continue
        counts["problems"] += 1
        slack = 1e-6 * max(1.0, abs(found))
        for name, wrong in {
            "bounds violated": problem["bound"] > found + slack,
            "objectives below": problem["objective"] < found - slack,
        }.items():
            counts[name] += int(wrong)
            if wrong:
                print(f"seed {problem['seed']}: {name}: {problem['bound']} {problem['objective']}, the solver {found}")
        counts["within 0.1 %"] += int(problem["objective"] <= found + 1e-3 * abs(found) + slack)
    print(json.dumps(counts))
    return 1 if counts["bounds violated"] or counts["objectives below"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
