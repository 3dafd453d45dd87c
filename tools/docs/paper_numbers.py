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
from reproduction.page import lines_of
from reproduction.plan import Plan
from reproduction.results import CaseResults, comparisons, mean_text, number_text, tally
from reproduction.sections import reproduction_page

NAMES = ("covariance", "links", "movielens", "robustness", "figures")
FLIPS, RATINGS, TENTH = ("0", "0.05", "0.10"), ("ml-100k", "ml-1m"), ("netflix-tenth",)
SIZES = ("750", "2000")

# What the row says, where it is: experiment, cases, method, measure.
ROWS = (
    ("Table 1, AUC of FWUA, flips 0 / 0.05 / 0.10", "links", FLIPS, "fwua", "auc"),
    ("Table 1, AUC of FWUA with the balanced width", "links", FLIPS, "fwua-balanced", "auc"),
    ("Table 1, AUC of SCCG", "links", FLIPS, "sccg", "auc"),
    ("Table 1, AUC of SCCG (SG)", "links", FLIPS, "sccg-sg", "auc"),
    ("Table 1, AUC of HCGS", "links", FLIPS, "hcgs", "auc"),
    ("Table 1, excess of FWUA", "links", FLIPS, "fwua", "excess"),
    ("Table 1, excess of FWUA with the balanced width", "links", FLIPS, "fwua-balanced", "excess"),
    ("Table 2, RMSE (z-scores) of FWUA with rank drop, ML-100k / ML-1M", "movielens", RATINGS, "rdfw", "rmse"),
    ("Table 2, RMSE of RLRMC", "movielens", RATINGS, "rlrmc", "rmse"),
    ("Table 2, RMSE of RLRMC without validation entries", "movielens", RATINGS, "rlrmc-end", "rmse"),
    ("Table 2, RMSE of GLRL", "movielens", RATINGS, "glrl", "rmse"),
    ("beside Table 2, RMSE of this program, nothing given", "movielens", RATINGS, "auto", "rmse"),
    ("a tenth of Netflix in place of ML-10M, RMSE of FWUA with rank drop", "movielens", TENTH, "rdfw", "rmse"),
    ("a tenth of Netflix, RMSE of RLRMC", "movielens", TENTH, "rlrmc", "rmse"),
    ("a tenth of Netflix, RMSE of GLRL", "movielens", TENTH, "glrl", "rmse"),
    ("Figure 2, excess of FWUA, n = 750 / 2000", "covariance", SIZES, "fwua", "excess"),
    ("Figure 2, excess of SCCG", "covariance", SIZES, "sccg", "excess"),
    ("Figure 2, excess of SCCG (SG)", "covariance", SIZES, "sccg-sg", "excess"),
    ("Figure 2, excess of HCGS", "covariance", SIZES, "hcgs", "excess"),
    ("Figure 3, precision of FWUA's pattern, n = 750 / 2000", "covariance", SIZES, "fwua", "precision"),
    ("Figure 3, precision of SCCG's pattern", "covariance", SIZES, "sccg", "precision"),
    ("Figure 3, precision of HCGS's pattern", "covariance", SIZES, "hcgs", "precision"),
    ("Figure 4, first iteration better than zero, mu = 0.0005", "figures", ("mu",), "sccg-0.0005", "delay"),
    ("Figure 4, the same with mu = 0.01", "figures", ("mu",), "sccg-0.01", "delay"),
)  # fmt: skip


def read_log():
    finished = EXPERIMENTS / "finished"
    log = Log(finished / "runs.jsonl")
    plan = Plan(log.last_version(), RecordedData(finished / "data.json"), log)
    return plan, [load_experiment(EXPERIMENTS / f"{name}.json") for name in NAMES]


def results(plan, experiments):
    command = "experiments/reproduce.py all --data DATA --out experiments/finished --resume"
    page = reproduction_page(plan, experiments, command, quick=False, failures=[])
    yield "\n".join(page.markdown[1:]).rstrip()  # the page has a title


def summary(plan, experiments):
    """Rows of which some run is finished; what has none is named below."""
    runs = [run for experiment in experiments for run in plan.all_runs(experiment)]
    yield f"{sum(plan.finished(run) is not None for run in runs)} of {len(runs)} runs are finished."
    cases = [[CaseResults(plan, one, case) for case in plan.cases(one)] for one in experiments]
    directions = [row for pair in zip(experiments, cases, strict=True) for row in comparisons(*pair)]
    yield f"{tally(directions)}\n[Which](results.md#does-the-papers-order-hold).\n"
    rows = [*table_rows(experiments, plan), genfb_row(plan, experiments)]
    if any(any(counts) for *_, counts in rows):
        yield "| | the paper | here | seeds |\n|---|---|---|---|"
    for title, printed, here, counts in rows:
        if any(counts):
            yield f"| {title} | {printed} | {here} | {' / '.join(map(str, counts))} |"
    if missing := [title for title, *_, counts in rows if not any(counts)]:
        yield "\n" + lines_of(f"Nothing yet of: {'; '.join(missing)}.")


def table_rows(experiments, plan):
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
        yield title, printed if any(papers) else "", here, [len(values) for values in seeds]


def genfb_row(plan, experiments):
    """GenFB's over those of FWUA, which is what the paper's speed is about."""
    links = next(experiment for experiment in experiments if experiment["name"] == "links")
    ratio = next(measure for measure in links["measures"] if measure["name"] == "ratio")
    genfb = next(method for method in links["methods"] if method["name"] == "genfb")
    cases = [CaseResults(plan, links, case) for case in links["cases"] if case["name"] in FLIPS]
    papers = [case.printed["genfb"]["seconds"] / case.printed["fwua"]["seconds"] for case in cases]
    ours = [case.seeds(genfb, ratio) for case in cases]
    here = " / ".join(f"{statistics.fmean(values):.1f}" if values else "not run" for values in ours)
    printed = " / ".join(f"{value:.1f}" for value in papers)
    title = "Table 1, seconds of GenFB over those of FWUA (ours: of a processor)"
    return title, printed, here, [len(values) for values in ours]


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("results", "summary"):
        sys.exit(__doc__)
    plan, experiments = read_log()
    part = results if sys.argv[1] == "results" else summary
    print("\n".join(part(plan, experiments)))


if __name__ == "__main__":
    main()
