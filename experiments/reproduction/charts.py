"""The figures of an experiment: convergence, measures as bars and against the size, patterns, component functions."""

import re

from .results import bounded_objective


def to_id(*parts):
    return re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-")


def add_charts(page, experiment, cases):
    if "scaling" in experiment:
        scaling(page, experiment, [case for case in cases if case.is_size])
    for case in cases:
        for measure in experiment["measures"]:
            if measure.get("chart"):
                bars(page, experiment, case, measure)
        firsts = [(method, case.runs[method["name"]][0]) for method in case.methods if case.runs[method["name"]]]
        convergence(page, experiment, case, firsts)
        patterns(page, experiment, case, firsts)


def convergence(page, experiment, case, runs):
    traces = [run["result"]["trace"] for _, run in runs if "objective_without_trace_penalty" not in run["result"]]
    if not traces:
        return
    last_k = max(trace["k"][-1] for trace in traces)
    last_second = max(trace["seconds"][-1] for trace in traces)
    # Where there are validation entries, these decide. Else the first steps overshoot by orders of magnitude: only the
    # excess on a logarithmic axis shows the rest.
    validated = any("validation_rmse" in trace for trace in traces)
    order = [2, 0, 1] if validated else [1, 0]
    series = []
    for method, run in runs:
        result, trace = run["result"], run["result"]["trace"]
        if "objective_without_trace_penalty" in result:
            # The iterates of a penalised method are not feasible; only its answer can be compared, as a level.
            title, style, objective = f"{method['title']} (its answer)", "dashed", [bounded_objective(run)] * 2
            x = [[1, last_k], sorted([result["seconds"], last_second])]
        else:
            title, style, objective = method["title"], "line", trace["objective"]
            x = [trace["k"], trace["seconds"]]
        bound = case.best_bound(run)
        excess = [100 * (value / bound - 1) if bound and bound > 0 else None for value in objective]
        y = [objective, excess, trace.get("validation_rmse", []) if style == "line" else []]
        series.append((title, style, x, [y[place] for place in order]))
    ordinates = ["objective", "excess over the best bound, %", "validation RMSE, prepared units"]
    page.lines(
        to_id(experiment["name"], case.name, "convergence"),
        f"{case.title}: convergence with the first seed. The excess is over the best lower bound that any of these "
        "runs certified. Drag to zoom, double click to undo.",
        ["iterations", "wall seconds"],
        [ordinates[place] for place in order],
        series,
        log_x=True,
        log_y=[place < 2 for place in order],
    )


def bars(page, experiment, case, measure):
    pairs = {method["title"]: (case.mean(method, measure), case.paper(method, measure)) for method in case.methods}
    pairs = {title: pair for title, pair in pairs.items() if pair != (None, None)}
    if pairs:
        series = [("here", [here for here, _ in pairs.values()]), ("the paper", [paper for _, paper in pairs.values()])]
        series = [one for one in series if any(value is not None for value in one[1])]
        name = to_id(experiment["name"], case.name, measure["name"])
        page.bars(name, f"{case.title}: {measure['title']}.", measure["title"], list(pairs), series)


def scaling(page, experiment, cases):
    """Measures against the size, one line a method. Objectives are too near to one another to tell lines apart: what
    comes first is the excess, on a logarithmic axis."""
    size, series = experiment["scaling"], []
    measures = sorted(experiment["measures"], key=lambda measure: measure["value"] != "excess")
    for method in experiment["methods"]:
        there = [case for case in cases if case.runs[method["name"]]]
        y = [[case.mean(method, measure) for case in there] for measure in measures]
        for place, measure in enumerate(measures):
            if measure.get("percent"):
                y[place] = [None if value is None else 100 * value for value in y[place]]
        if there:
            series.append((method["title"], "line", [[case.values[size] for case in there]], y))
    if series:
        ordinates = [measure["title"] + ", %" * bool(measure.get("percent")) for measure in measures]
        ordinates = ["excess over the best bound, %" if title == "excess, %" else title for title in ordinates]
        caption = f"Measures against {size}, means over the seeds."
        page.lines(to_id(experiment["name"], "scaling"), caption, [size], ordinates, series,
                   log_y=[measure["value"] == "excess" for measure in measures])  # fmt: skip


def patterns(page, experiment, case, runs):
    shown = [(method, run["pattern"]) for method, run in runs if "answer_picture" in run.get("pattern", {})]
    if not shown:
        return
    pictures = [("truth", shown[0][1]["truth_picture"])]
    for method, pattern in shown:
        pictures.append((f"{method['title']}: {100 * pattern['nonzero']:.1f} % nonzero", pattern["answer_picture"]))
    page.gallery(
        to_id(experiment["name"], case.name, "patterns"),
        f"{case.title}: where the matrices are nonzero (above a hundredth of the largest entry), first seed. The "
        "darker, the more of a cell's entries.",
        pictures,
    )


def component_functions(page, parameters):
    """|x| and its approximations by the widths 2/(k+2)."""
    x = [parameters["range"] * (p / 120 - 1) for p in range(241)]
    series = []
    for k in parameters["iterations"]:
        w = 2 / (k + 2)
        values = [v * v / (2 * w) + w / 2 if abs(v) < w else abs(v) for v in x]
        slopes = [max(-1, min(1, v / w)) for v in x]
        series.append((f"k = {k}, width {w:.3g}", "line", [x], [values, slopes]))
    series.append(("|x|", "dashed", [x], [[abs(v) for v in x], [(v > 0) - (v < 0) for v in x]]))
    page.lines(
        "component-functions",
        "The function |x| and what the method sees of it with the widths 2/(k+2): chord slopes, integrated (x^2/2w + "
        "w/2 for |x| < w, else |x|).",
        ["x"],
        ["value", "chord slope"],
        series,
    )
