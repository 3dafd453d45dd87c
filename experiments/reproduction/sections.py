"""The whole page of a reproduction: overview, the paper's comparisons, a section for every experiment."""

from .charts import add_charts, component_functions
from .page import Page
from .results import CaseResults, comparisons, results_table, tally

TITLE = "The experiments of FWUA, again"
SUBTITLE = (
    "E. Cheung and Y. Li, Solving separable nonsmooth problems using Frank-Wolfe with uniform affine approximations "
    "(IJCAI 2018, arXiv 1710.05776), run with tracenorm next to the numbers that the paper reports."
)
QUICK = (
    "This is a quick run: sizes, iterations and seeds are cut down, so the numbers show that everything works and "
    "cannot be held against the paper's."
)
SECONDS = (
    "Processor seconds are those of the whole command on one thread, reading and certificates included: other work on "
    "the machine hardly changes them. Wall seconds do depend on it. The paper's seconds are those of other programs on "
    "another machine; only the order can be held against ours."
)


def reproduction_page(plan, experiments, command, quick, failures):
    cases = [[CaseResults(plan, experiment, case) for case in plan.cases(experiment)] for experiment in experiments]
    page = Page(TITLE, SUBTITLE)
    page.heading("overview", "Overview")
    page.table("facts", "", ["", ""], facts(plan, experiments, command), words=2)
    for warning in [*([QUICK] if quick else []), *(f"Failed: {failure}" for failure in failures)]:
        page.text(warning, warning=True)
    if rows := [row for pair in zip(experiments, cases, strict=True) for row in comparisons(*pair)]:
        page.heading("directions", "Does the paper's order hold?")
        page.text(tally(rows))
        page.text(SECONDS)
        caption = "Every comparison that the paper makes with its own method, and whether our runs point the same way."
        columns = ["experiment", "case", "comparison", "measure", "the paper", "our runs", "direction"]
        page.table("comparisons", caption, columns, rows, words=7)
    for experiment, its_cases in zip(experiments, cases, strict=True):
        add_section(page, plan, experiment, its_cases)
    return page


def build_text(run):
    environment = run["result"]["environment"]
    program = "version {version}, {compiler}, {instruction_set}, ".format_map(environment)
    program += "1 thread" if environment["threads"] == 1 else f"{environment['threads']} threads"
    return program + (f", sources of commit {run['commit']}" if run["commit"] else "")


def facts(plan, experiments, command):
    runs = [plan.finished(run) for experiment in experiments for run in plan.all_runs(experiment)]
    finished = list({id(run): run for run in runs if run}.values())  # experiments may share runs
    seconds = sum(run["processor_seconds"] for run in finished)
    builds = {build_text(run) for run in finished}
    dates = sorted({run["date"] for run in finished})
    return [
        ["command", f"`{command}`"],
        ["runs", f"{sum(map(bool, runs))} of {len(runs)} finished, {seconds:.0f} processor seconds in all"],
        *([["run on", " to ".join([*dates[:1], *dates[1:][-1:]]) + " UTC"]] if dates else []),
        ["machine", "; ".join(sorted({run["machine"] for run in finished}))],
        ["program", "; ".join(sorted(builds)) or f"version {plan.version}"],
        ["raw results", "`runs.jsonl` beside this page, one finished run a line; tables alone in `results.md`"],
    ]


def add_section(page, plan, experiment, cases):
    name = experiment["name"]
    page.heading(name, experiment["title"])
    for text in experiment["text"]:
        page.text(text)
    for data in plan.missing(experiment):
        how = f"it cannot be fetched; put {data['files'][0]} into the data folder"
        if "url" in data:
            how = f"`experiments/fetch.py {data['name']} --data DIR` gets it from {data['publisher']}"
        page.text(f"Missing: {data['title']}; {how}.", warning=True)
    if "component" in experiment:
        component_functions(page, experiment["component"])
    if cases:
        caption = (
            "Mean ± standard deviation over the seeds. Where the paper has a value, ours minus the paper's in percent "
            "of it; differences beyond 3 % are coloured."
        )
        page.table(f"{name}-results", caption, *results_table(experiment, cases), words=2)
        add_charts(page, experiment, cases)
    if cases and experiment["differences"]:
        page.heading(f"{name}-differences", "Where our numbers differ from the paper's", 3)
        for text in experiment["differences"]:
            page.text(text)
    if experiment["protocol"]:
        page.heading(f"{name}-points", "Protocol", 3)
        points = [[point["point"], point["paper"], point["chosen"]] for point in experiment["protocol"]]
        caption = "What the paper leaves open, and what was chosen here."
        page.table(f"{name}-protocol", caption, ["point", "the paper", "here"], points, words=3)
    if commands := first_commands(cases):
        page.commands(f"{name}-commands", "The commands of the first seed", commands)
    else:
        page.text(f"No runs of this experiment yet: `experiments/reproduce.py {name} --resume`.", warning=True)


def first_commands(cases):
    """Those of the first finished seed; others differ in the seed, and in what depends on it."""
    lines = []
    for case in cases:
        firsts = [case.runs[method["name"]][0] for method in case.methods if case.runs[method["name"]]]
        lines += dict.fromkeys(command for run in firsts for command in (*run["prepare"], run["command"]))
    return lines
