"""From declarations to commands: which runs there are, what each of them needs, what it is called in the log."""

import json
import re
import typing

from . import fail

NAME = re.compile(r"\{([^{}]+)\}")


class Run(typing.NamedTuple):
    experiment: dict
    case: dict
    method: dict
    seed: int

    def __str__(self):
        return f"{self.case['title']}, {self.method['title']}, seed {self.seed}"


class Command(typing.NamedTuple):
    """A run whose blanks are filled in."""

    key: str  # everything that determines the result
    words: list  # {work} stands for the folder that it is run in
    text: str  # the same for people: DATA and WORK stand for the folders
    prepare: list  # (words, text) of what makes its data
    truth: str


class UnfinishedError(Exception):
    """A number that a command needs is not known yet."""


class Plan:
    def __init__(self, version, data, log, seeds=None, methods=()):
        """`data` is a DataFolder or RecordedData; `seeds` for every method and only these `methods`, where they are
        given."""
        self.version, self.data, self.log = version, data, log
        self.seeds, self.methods = seeds, methods

    def data_set(self, experiment, case):
        """The data set of a case; None for one that makes its own data."""
        name = {**experiment["values"], **case["values"]}.get("data")
        if name and name not in self.data.declared:
            fail(f"experiment {experiment['name']}: there is no data set '{name}'")
        return self.data.declared.get(name)

    def is_missing(self, experiment, case):
        data = self.data_set(experiment, case)
        return data is not None and self.data.file(data["name"]) is None

    def cases(self, experiment):
        """The cases whose data are there, a stand-in only where what it stands for is missing."""
        return [
            case for case in experiment["cases"] if not self.is_missing(experiment, case)
            and not ("instead_of" in case and self.data.file(case["instead_of"]))
        ]  # fmt: skip

    def missing(self, experiment):
        """The data sets that an experiment could use and that are not there."""
        cases = [case for case in experiment["cases"] if self.is_missing(experiment, case)]
        return list({data["name"]: data for data in (self.data_set(experiment, case) for case in cases)}.values())

    def wanted(self, experiment, method):
        """Asked for, or a method that was asked for takes a number from it."""
        asked = [one for one in experiment["methods"] if not self.methods or one["name"] in self.methods]
        needed = {name.partition(".")[0] for one in asked for name in NAME.findall(one["command"]) if "." in name}
        return method in asked or method["name"] in needed

    def runs(self, experiment, case, everything=False):
        """Those of a case by seed; `everything`: also of methods that were not asked for."""
        for seed in range(1, (self.seeds or experiment.get("seeds", 1)) + 1):
            for method in experiment["methods"]:
                most = self.seeds or min(case.get("seeds", seed), method.get("seeds", seed))
                belongs = method["name"] in case.get("methods", [method["name"]])
                if belongs and seed <= most and (everything or self.wanted(experiment, method)):
                    yield Run(experiment, case, method, seed)

    def all_runs(self, experiment):
        """The seed changes last, so that an interrupted reproduction has a little of everything."""
        runs = [run for case in self.cases(experiment) for run in self.runs(experiment, case)]
        return sorted(runs, key=lambda run: run.seed)

    def value(self, run, name):
        """What stands for {name} in the commands of a run; folders are put in later, word by word."""
        values = {**run.experiment["values"], **run.case["values"], "seed": run.seed}
        values |= {"file": "{file}", "work": "{work}"}
        if name in values:
            return values[name] if isinstance(values[name], str) else json.dumps(values[name])
        where = f"experiment {run.experiment['name']}: {{{name}}} of '{run.method['name']}'"
        method, _, member = name.partition(".")
        source = next((one for one in run.experiment["methods"] if one["name"] == method), None)
        if source is None or not member:
            fail(f"{where} is neither in \"values\" nor in the case '{run.case['name']}', nor a number of another run")
        finished = self.finished(run._replace(method=source))
        if finished is None:
            raise UnfinishedError(f"it depends on {source['title']}, which is not finished")
        if not isinstance(finished["result"].get(member), int | float):
            fail(f"{where}: the run of {method} has no number '{member}'")
        return json.dumps(finished["result"][member])

    def fill(self, run, text):
        for _ in range(3):  # a value may speak of values
            text = NAME.sub(lambda match: self.value(run, match[1]), text)
        return text

    def resolve(self, run):
        data = self.data_set(run.experiment, run.case)
        file = path = known_as = ""
        if data:
            file, path = self.data.file(data["name"]), self.data.path(data["name"])
            known_as = f"{data['name']}:{self.data.checksum(data['name'])}"

        def place(text, at_file, at_work):
            return text.replace("{file}", str(at_file)).replace("{work}", str(at_work))

        key, filled = [self.version], []
        for template in [*run.experiment["prepare"], run.method["command"]]:
            words = self.fill(run, template).split()
            key += [place(word, known_as, "WORK") for word in words]
            text = " ".join(["tracenorm", *(place(word, f"DATA/{file}", "WORK") for word in words)])
            filled.append(([place(word, path, "{work}") for word in words], text))
        *prepare, (words, text) = filled
        truth = self.fill(run, run.experiment.get("truth", ""))
        return Command(json.dumps(key, separators=(",", ":"), ensure_ascii=False), words, text, prepare, truth)

    def is_done(self, command):
        """Whether the log has all of it. Experiments share runs, and one that is held against no truth leaves the
        pattern of its answer out."""
        record = self.log.runs.get(command.key)
        return record is not None and ("pattern" in record or not command.truth)

    def finished(self, run):
        """The record of a run; None when it is not finished."""
        try:
            return self.log.runs.get(self.resolve(run).key)
        except UnfinishedError:
            return None
