"""What the finished runs say: measures over the seeds, held against the paper's. All of it is computed from the log."""

import math
import statistics

NOTABLE = 0.03  # beyond this, a difference to the paper is to be explained


def number_at(record, path):
    """What stands at "/result/seconds" of a record; None where there is no number."""
    for name in path.strip("/").split("/"):
        record = record.get(name) if isinstance(record, dict) else None
    return record if isinstance(record, int | float) else None


def radius(record):
    """The bound on the trace norm, or for a penalised problem the trace norm of its answer."""
    return record["result"]["radius"] or record["result"]["trace_norm"]


def bounded_objective(record):
    """The objective without a penalty on the trace norm."""
    return record["result"].get("objective_without_trace_penalty", record["result"]["objective"])


def same_problem(a, b):
    """Whether a lower bound of one is a lower bound of the other: the same data, loss, penalty and radius."""
    names = ("loss", "penalty", "rows", "cols", "observed")
    same = all(a["result"][name] == b["result"][name] for name in names)
    return same and abs(radius(a) - radius(b)) <= 1e-9 * radius(b)


class CaseResults:
    """A case of an experiment with what is finished of it now."""

    def __init__(self, plan, experiment, case):
        self.name, self.title, self.values = case["name"], case["title"], case["values"]
        self.is_size = "methods" not in case  # the others show a detail
        self.methods = [one for one in experiment["methods"] if one["name"] in case.get("methods", [one["name"]])]
        self.printed = experiment["paper"].get(self.name, {})
        self.runs = {method["name"]: [] for method in experiment["methods"]}  # in seed order
        for run in plan.runs(experiment, case, everything=True):
            if record := plan.finished(run):
                self.runs[run.method["name"]].append(record)

    def paper(self, method, measure):
        """What the paper reports; None where it does not."""
        return self.printed.get(method["name"], {}).get(measure["name"])

    def others(self, record):
        """The finished runs of the same seed, by method."""
        return {run["method"]: run for runs in self.runs.values() for run in runs if run["seed"] == record["seed"]}

    def best_bound(self, record):
        """The best certified lower bound of the problem that this run solved, by any run; None where there is none."""
        bounded = [run for run in self.others(record).values() if run["result"]["radius"] is not None]
        bounds = [run["result"]["lower_bound"] for run in bounded if same_problem(run, record)]
        return max((bound for bound in bounds if bound is not None), default=None)

    def value(self, record, expression):
        """ "/a", "/a over /b", "times fwua /a" (as a multiple of another method's), "excess" (over the best bound)."""
        if expression == "/result/solution_iteration" and record["result"]["radius_path"]:
            return None  # of the last radius alone
        if expression == "excess":
            bound = self.best_bound(record)
            return bounded_objective(record) / bound - 1 if bound and bound > 0 else None
        if expression.startswith("times "):
            _, method, place = expression.split(" ")
            above, below = number_at(record, place), number_at(self.others(record).get(method), place)
        else:
            upper, over, lower = expression.partition(" over ")
            above, below = number_at(record, upper), number_at(record, lower) if over else 1
        return above / below if above is not None and below else None

    def measured(self, record, measure):
        """The first place where there is a number counts."""
        places = [measure["value"]] if isinstance(measure["value"], str) else measure["value"]
        return next((value for place in places if (value := self.value(record, place)) is not None), None)

    def seeds(self, method, measure):
        """One number for every finished seed that has it."""
        values = [self.measured(run, measure) for run in self.runs[method["name"]]]
        return [value for value in values if value is not None]

    def mean(self, method, measure):
        seeds = self.seeds(method, measure)
        return statistics.fmean(seeds) if seeds else None


def number_text(value, measure):
    digits = measure.get("digits", 4)
    return f"{100 * value:.{digits}f} %" if measure.get("percent") else f"{value:.{digits}f}"


def mean_text(values, measure):
    """ "0.8716 ± 0.0075"; without a deviation when there is one value."""
    text = number_text(statistics.fmean(values), measure)
    return text if len(values) < 2 else f"{text} ± {number_text(statistics.stdev(values), measure)}"


def difference(ours, paper, measure):
    """Ours relative to the paper's, coloured where it is notable."""
    share = ours / paper - 1
    if abs(share) <= NOTABLE or "better" not in measure:
        return f"{100 * share:+.1f} %"
    return f"{100 * share:+.1f} %", "good" if (share > 0) == (measure["better"] == "higher") else "bad"


def results_table(experiment, cases):
    """(columns, rows): the measures of every case and method, the paper's beside ours."""
    papers = [experiment["paper"].get(case["name"], {}) for case in experiment["cases"]]
    printed = {name for methods in papers for values in methods.values() for name in values}
    columns = ["case", "method", "seeds"]
    for measure in experiment["measures"]:
        columns.append(measure["title"])
        if measure["name"] in printed:
            columns += ["paper", "difference"] if measure.get("difference", True) else ["paper"]
    rows = []
    for case in cases:
        for method in case.methods:
            finished = len(case.runs[method["name"]])
            title = case.title if method is case.methods[0] else ""
            row = [title, method["title"], str(finished) if finished else ("not run", "faint")]
            for measure in experiment["measures"]:
                seeds, paper = case.seeds(method, measure), case.paper(method, measure)
                row.append(mean_text(seeds, measure) if seeds else measure.get("missing", "") if finished else "")
                if measure["name"] in printed:
                    row.append("" if paper is None else (number_text(paper, measure), "faint"))
                    if measure.get("difference", True):
                        known = seeds and paper is not None
                        row.append(difference(statistics.fmean(seeds), paper, measure) if known else "")
            rows.append(row)
    return columns, rows


def compare(own, other, measure, remark=""):
    """(direction, text). Equal means: the same digits in the table. Without a number a run never got there."""
    if own is None or other is None:
        found = "equal" if own is other else "worse" if own is None else "better"
    elif number_text(own, measure) == number_text(other, measure):
        found = "equal"
    else:
        found = "better" if (own > other) == (measure["better"] == "higher") else "worse"
    texts = [measure.get("missing") if value is None else number_text(value, measure) for value in (own, other)]
    return found, f"{found}: {texts[0]} against {texts[1]}{remark}"


def compare_runs(own, other, measure):
    """Only the seeds that both have are compared."""
    common = min(len(own), len(other))
    if not common:
        return compare(*(statistics.fmean(values) if values else None for values in (own, other)), measure)
    own, other = own[:common], other[:common]
    a, b = statistics.fmean(own), statistics.fmean(other)
    small = common > 1 and abs(a - b) < math.hypot(statistics.stdev(own), statistics.stdev(other))
    return compare(a, b, measure, " (less than the deviation)" if small else "")


def verdict(paper, ours):
    if paper == ours:
        return "confirmed", "good"
    return "not quite" if "equal" in (paper, ours) else ("contradicted", "bad")


def comparisons(experiment, cases):
    """A row for every comparison of the paper: what it says, what our runs say, whether the direction is the same."""
    measures = {measure["name"]: measure for measure in experiment["measures"]}
    rows = []
    one_by_one = [
        (case, comparison, name, with_name) for case in cases for comparison in experiment["comparisons"]
        for name in comparison["measures"] for with_name in comparison["with"]
    ]  # fmt: skip
    for case, comparison, name, with_name in one_by_one:
        methods = {method["name"]: method for method in case.methods}
        own, other, measure = methods.get(comparison["method"]), methods.get(with_name), measures[name]
        if not own or not other:
            continue
        printed = [case.paper(method, measure) for method in (own, other)]
        if "expected" in comparison:
            paper = "better", f"better ({comparison['expected']})"
        elif None not in printed:
            paper = compare(*printed, measure)
        else:
            continue
        row = [experiment["name"], case.title, f"{own['title']} against {other['title']}", measure["title"], paper[1]]
        seeds = [case.seeds(method, measure) for method in (own, other)]
        if all(seeds) or ("missing" in measure and all(case.runs[method["name"]] for method in (own, other))):
            ours = compare_runs(*seeds, measure)
            rows.append([*row, ours[1], verdict(paper[0], ours[0])])
        else:
            rows.append([*row, ("not run", "faint"), ""])
    return rows


def tally(rows):
    """How many of the rows of `comparisons` came out how, as a sentence."""
    words = [row[-1] if isinstance(row[-1], str) else row[-1][0] for row in rows]
    found = [f"{words.count(word)} {word}" for word in ("confirmed", "not quite", "contradicted") if word in words]
    missing = words.count("")
    not_run = f" {missing} are not run." if missing else ""
    return f"Of {len(rows)} comparisons: {', '.join(found) or 'none to be told yet'}.{not_run}"
