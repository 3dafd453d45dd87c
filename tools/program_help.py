"""What the program says about itself: its commands and their options, read from --help. The manual, the manual page
and the completions of shells are made of it or compared with it, so that none of them can know another program."""

import re
import subprocess
from dataclasses import dataclass, field

# An item of a list: "  --name TYPE   text"; names that are too long have their text on the next line.
ITEM = re.compile(r"^  (\S.*?)(?:\s{2,}(\S.*))?$")
NAME = re.compile(r"--?[a-z][a-z0-9-]*")


def help_of(program, command):
    """All options, where a command shows only some of them at first."""
    text = subprocess.run([program, *command, "--help"], check=True, capture_output=True, text=True).stdout
    if "--help-all" not in text:
        return text
    return subprocess.run([program, *command, "--help-all"], check=True, capture_output=True, text=True).stdout


def subcommands(text):
    """The names listed under "Commands:" or "Subcommands:"."""
    match = re.search(r"^(?:Subc|C)ommands:\n((?:  .*\n)+)", text, re.MULTILINE)
    return re.findall(r"^  ([a-z][a-z0-9-]*)", match.group(1), re.MULTILINE) if match else []


def all_commands(program, command=()):
    """{("generate", "completion"): help text} for every command, the program itself included."""
    text = help_of(program, command)
    found = {command: text}
    for name in subcommands(text):
        found.update(all_commands(program, (*command, name)))
    return found


@dataclass
class Item:
    """An argument, option or command: what stands left ("-q,--quiet", "--model FILE.npz"), and what explains it."""

    head: str
    lines: list[str] = field(default_factory=list)

    @property
    def names(self):
        return NAME.findall(self.head.split(" ")[0])

    @property
    def value(self):
        """What stands for its value; empty for a flag."""
        return self.head.partition(" ")[2]

    @property
    def choices(self):
        """The words it may be given: of "auto|cpu|cuda", or those that its text explains one by one ("fwua: ...")."""
        if "|" in self.value:
            return [word for word in self.value.strip("[]").split("|") if re.fullmatch(r"[a-z][a-z0-9-]*", word)]
        if not self.value.startswith("NAME"):
            return []
        return [line.partition(":")[0] for line in self.lines[1:] if re.match(r"[a-z0-9-]+: ", line)]


@dataclass
class Help:
    """The help of one command in parts. `lists` has Arguments, Options, other groups of options, Commands; `rest` what
    follows them: examples and notes."""

    description: str
    usage: str
    lists: dict[str, list[Item]]
    rest: list[str]

    @property
    def options(self):
        return [item for items in self.lists.values() for item in items if item.names]


def parse(text):
    before, _, after = text.partition("\nUsage: ")
    usage, *lines = after.split("\n")
    lists, items = {}, None
    for number, line in enumerate(lines):
        if line == "Examples:" or (line and line[0] != " " and not line.endswith(":")):
            return Help(before, usage, lists, lines[number:])
        if line.endswith(":") and line[0] != " ":
            items = lists.setdefault(line[:-1], [])
        elif match := ITEM.match(line):
            items.append(Item(match.group(1), [match.group(2)] if match.group(2) else []))
        elif line.startswith(" " * 36):  # a broken line goes on
            items[-1].lines[-1] += " " + line.strip()
        elif line.strip():
            items[-1].lines.append(line.strip())
    return Help(before, usage, lists, [])
