#!/usr/bin/env python3
"""What the finished runs of the paper's experiments say (experiments/finished/runs.jsonl), as Markdown.

Usage: paper_numbers.py results|summary

results: everything that experiments/reproduce.py writes to its results.md. summary: the paper's main numbers beside
ours. Neither runs anything nor needs the data.
"""

import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "experiments"))
from reproduction import EXPERIMENTS
from reproduction.data_sets import RecordedData
from reproduction.declaration import load_experiment
from reproduction.log import Log
from reproduction.plan import Plan
from reproduction.results import CaseResults, mean_text, number_text
from reproduction.sections import reproduction_page

NAMES = ("covariance", "links", "movielens", "robustness", "figures")
FLIPS, RATINGS = ("0", "0.05", "0.10"), ("ml-100k", "ml-1m")
SIZES = ("750", "1000")

# What the row says, where it is: experiment, cases, method, measure.
ROWS = (
    ("Table 1, AUC of FWUA, flips 0 / 0.05 / 0.10", "links", FLIPS, "fwua", "auc"),
    ("the same, balanced width", "links", FLIPS, "fwua-balanced", "auc"),
    ("the same, SCCG", "links", FLIPS, "sccg", "auc"),
    ("the same, SCCG (SG)", "links", FLIPS, "sccg-sg", "auc"),
    ("the same, HCGS", "links", FLIPS, "hcgs", "auc"),
    ("distance of FWUA to the optimum at most", "links", FLIPS, "fwua", "excess"),
    ("the same, balanced width", "links", FLIPS, "fwua-balanced", "excess"),
    ("Table 2, RMSE in z-scores of FWUA with rank drop, ML-100k / ML-1M", "movielens", RATINGS, "rdfw", "rmse"),
    ("the same, RLRMC", "movielens", RATINGS, "rlrmc", "rmse"),
    ("the same, RLRMC, no validation", "movielens", RATINGS, "rlrmc-end", "rmse"),
    ("the same, GLRL", "movielens", RATINGS, "glrl", "rmse"),
    ("not in the paper: this program, nothing given", "movielens", RATINGS, "auto", "rmse"),
    ("Figure 2, distance of FWUA to the optimum at most, n = 750 / 1000", "covariance", SIZES, "fwua", "excess"),
    ("the same, SCCG", "covariance", SIZES, "sccg", "excess"),
    ("the same, SCCG (SG)", "covariance", SIZES, "sccg-sg", "excess"),
    ("the same, HCGS", "covariance", SIZES, "hcgs", "excess"),
)  # fmt: skip


def read_log():
    finished = EXPERIMENTS / "finished"
    log = Log(finished / "runs.jsonl")
    plan = Plan(log.last_version(), RecordedData(finished / "data.json"), pathlib.Path("WORK"), log)
    return plan, [load_experiment(EXPERIMENTS / f"{name}.json") for name in NAMES]


def results(plan, experiments):
    command = "experiments/reproduce.py all --data DATA --out experiments/finished --resume"
    page = reproduction_page(plan, experiments, command, quick=False, failures=[])
    yield "\n".join(page.markdown[1:]).rstrip()  # the page has a title


def summary(plan, experiments):
    yield "| | the paper | here | seeds |\n|---|---|---|---|"
    by_name = {experiment["name"]: experiment for experiment in experiments}
    for title, name, case_names, method_name, measure_name in ROWS:
        experiment = by_name[name]
        cases = [CaseResults(plan, experiment, case) for case in experiment["cases"] if case["name"] in case_names]
        method, measure = (
            next(one for one in experiment[part] if one["name"] == wanted)
            for part, wanted in (("methods", method_name), ("measures", measure_name))
        )
        papers = [case.paper(method, measure) for case in cases]
        seeds = [case.seeds(method, measure) for case in cases]
        printed = " / ".join("-" if value is None else number_text(value, measure) for value in papers)
        here = " / ".join(mean_text(values, measure) if values else "not run" for values in seeds)
        counts = " / ".join(str(len(values)) for values in seeds)
        yield f"| {title} | {printed if any(papers) else ''} | {here} | {counts} |"


def seconds(plan, experiments):
    """GenFB's over those of FWUA, which is what the paper's speed is about."""
    links = next(experiment for experiment in experiments if experiment["name"] == "links")
    ratio = next(measure for measure in links["measures"] if measure["name"] == "ratio")
    genfb = next(method for method in links["methods"] if method["name"] == "genfb")
    cases = [CaseResults(plan, links, case) for case in links["cases"] if case["name"] in FLIPS]
    papers = [case.printed["genfb"]["seconds"] / case.printed["fwua"]["seconds"] for case in cases]
    ours = [case.seeds(genfb, ratio) for case in cases]
    here = " / ".join(f"{statistics.fmean(values):.1f}" if values else "not run" for values in ours)
    counts = " / ".join(str(len(values)) for values in ours)
    printed = " / ".join(f"{value:.1f}" for value in papers)
    yield f"| Table 1, seconds of GenFB over those of FWUA (ours: of a processor) | {printed} | {here} | {counts} |"


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("results", "summary"):
        sys.exit(__doc__)
    plan, experiments = read_log()
    parts = [results] if sys.argv[1] == "results" else [summary, seconds]
    print("\n".join(line for part in parts for line in part(plan, experiments)))


if __name__ == "__main__":
    main()
