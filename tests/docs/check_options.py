#!/usr/bin/env python3
"""Compares the manual with the program: every command has its section, and its list of options is what --help says.

Usage: check_options.py PROGRAM MANUAL [--update]

A section begins with "## tracenorm COMMAND" and holds one block ```text ... ``` with the options. With --update these
blocks are rewritten from --help; the prose around them stays.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from program_help import all_commands

# A line of --help that declares an option: "  --name ...", "  -q,--quiet ...".
DECLARATION = re.compile(r"^  (?:-\w,)?(--[a-z][a-z0-9-]*)")
BLOCK = re.compile(r"```text\n(.*?)```", re.DOTALL)


def options_of(text):
    return {match.group(1) for match in map(DECLARATION.match, text.splitlines()) if match}


def listing(text):
    """What the manual shows of a help text: arguments, options and commands, without usage, examples and notes."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if line in ("Arguments:", "Options:"))
    end = next((i for i, line in enumerate(lines) if i > begin and line == "Examples:"), None)
    if end is None:  # notes without examples stand after the last indented line
        end = max(i for i, line in enumerate(lines) if line.startswith("  ")) + 1
    return "\n".join(lines[begin:end]).rstrip() + "\n"


def sections(manual):
    """{("complete",): (begin, end)} of the sections of the manual."""
    heads = [(m.start(), tuple(m.group(1).split())) for m in re.finditer(r"^## tracenorm *(.*)$", manual, re.MULTILINE)]
    others = [m.start() for m in re.finditer(r"^## ", manual, re.MULTILINE)] + [len(manual)]
    return {command: (begin, min(o for o in others if o > begin)) for begin, command in heads}


def title(command):
    return " ".join(("tracenorm", *command))


def problems(manual, commands):
    places = sections(manual)
    for command, text in commands.items():
        if command not in places:
            yield f"no section '## {title(command)}'"
            continue
        begin, end = places[command]
        block = BLOCK.search(manual[begin:end])
        listed = block.group(1) if block else ""
        for option in sorted(options_of(text) ^ options_of(listed)):
            who = "the manual" if option in options_of(text) else "the program"
            yield f"section '## {title(command)}': {who} does not have {option}"
        if options_of(text) == options_of(listed) and listed != listing(text):
            yield f"section '## {title(command)}' says something else than --help"
    for command in places.keys() - commands.keys():
        yield f"section '## {title(command)}' is about a command that the program does not have"


def updated(manual, commands):
    for command, text in commands.items():
        places = sections(manual)
        if command not in places:
            continue
        begin, end = places[command]
        block = f"```text\n{listing(text)}```"
        section = BLOCK.sub(lambda _, block=block: block, manual[begin:end], count=1)
        manual = manual[:begin] + section + manual[end:]
    return manual


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    commands = all_commands(arguments[0])
    path = pathlib.Path(arguments[1])
    manual = path.read_text(encoding="utf-8")
    if "--update" in sys.argv:
        manual = updated(manual, commands)
        path.write_text(manual, encoding="utf-8")
    found = list(problems(manual, commands))
    for problem in found:
        print(f"{path.name}: {problem}")
    if found:
        print("Rewrite the lists of options with: check_options.py PROGRAM MANUAL --update")
        return 1
    print(f"{path.name} knows every option of {len(commands)} commands")
    return 0


if __name__ == "__main__":
    sys.exit(main())
