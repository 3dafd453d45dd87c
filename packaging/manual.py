#!/usr/bin/env python3
"""Makes the manual page and the completions of bash and zsh from what the program says about itself.

Usage: manual.py PROGRAM FOLDER      writes tracenorm.1.gz, tracenorm (bash) and _tracenorm (zsh)
"""

import gzip
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from program_help import all_commands, parse


def roff(text):
    """Text of a manual page: nothing in it is a request, and a minus is one that can be copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def page_of_command(command, help_text, version):
    title = " ".join(("tracenorm", *command))
    if command:
        yield f".SH COMMAND {roff(title).upper()}"
        yield roff(help_text.description[:1].upper() + help_text.description[1:] + ".")
        yield f".PP\n.B {roff(help_text.usage)}"
    else:
        yield f'.TH TRACENORM 1 "" "tracenorm {version}" "User Commands"'
        yield ".SH NAME\ntracenorm \\- low\\-rank matrix estimation with nonsmooth losses and a certificate"
        yield f".SH SYNOPSIS\n.B {roff(help_text.usage)}\n.SH DESCRIPTION\n{roff(help_text.description)}"
    for title, items in help_text.lists.items():
        yield f".{'SS' if command else 'SH'} {roff(title)}"
        for item in items:
            yield f".TP\n.B {roff(item.head)}"
            yield "\n.br\n".join(roff(line) for line in item.lines)
    for paragraph in "\n".join(help_text.rest).strip().split("\n\n"):
        first, *others = paragraph.split("\n")
        if first == "Examples:":
            yield f".{'SS' if command else 'SH'} Examples\n.nf\n.RS"
            yield from (roff(line.strip()) for line in others)
            yield ".RE\n.fi"
        elif paragraph:
            yield ".PP\n" + "\n".join(roff(line) for line in (first, *others))


def manual_page(commands, version):
    return (
        "\n".join(line for command, text in commands.items() for line in page_of_command(command, text, version)) + "\n"
    )


def subcommands(commands, command):
    return [other[-1] for other in commands if other[:-1] == command and other]


def bash_completion(commands):
    """Words of the line that name commands lead to a case with their options; what a case does not answer is a file."""
    cases = []
    for command, text in commands.items():
        names = [name for option in text.options for name in option.names]
        cases.append(f'    "{" ".join(command)}")')
        cases.append(f'      commands="{" ".join(subcommands(commands, command))}"')
        cases.append(f'      options="{" ".join(names)}"')
        cases.append('      case "$option" in')
        for option in text.options:
            if option.value and not option.value.startswith("["):
                cases.append(
                    f'        {"|".join(option.names)}) takes_value=yes; values="{" ".join(option.choices)}" ;;'
                )
        cases.append("      esac ;;")
    known = " | ".join(f'"{" ".join(command)}"' for command in commands if command)
    body = "\n".join(cases)
    return f"""# Completion of tracenorm for bash, made by packaging/manual.py.
_tracenorm() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD - 1]}}
  # bash cuts --option=value into three words.
  if [[ $current == "=" ]]; then
    current=
  elif [[ $option == "=" ]]; then
    option=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  local command= word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "${{command:+$command }}$word" in
      {known}) command="${{command:+$command }}$word" ;;
    esac
  done
  local commands= options= values= takes_value=
  case "$command" in
{body}
  esac
  COMPREPLY=()
  if [[ -n $takes_value ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}}
complete -o default -F _tracenorm tracenorm
"""


def zsh_quoted(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_option(item):
    action = f"({' '.join(item.choices)})" if item.choices else "_files"
    value = f":{zsh_quoted(item.value)}:{action}" if item.value and not item.value.startswith("[") else ""
    return [f"'*{name}[{zsh_quoted(item.lines[0])}]{value}'" for name in item.names]


def zsh_function(commands, command, text):
    words = [word for option in text.options for word in zsh_option(option)]
    children = subcommands(commands, command)
    name = "_".join(("_tracenorm", *command))
    if not children:
        return [f"{name}() {{", "  _arguments -S \\", *(f"    {word} \\" for word in words), "    '*:file:_files'", "}"]
    texts = {
        item.head: item.lines[0]
        for title, items in text.lists.items()
        if title.lower().endswith("commands")
        for item in items
    }
    described = " ".join(f"'{child}:{zsh_quoted(texts[child])}'" for child in children)
    return [
        f"{name}() {{",
        "  local state line",
        f"  local -a commands=({described})",
        "  _arguments -C -S \\",
        *(f"    {word} \\" for word in words),
        "    '1:command:->command' '*::argument:->argument'",
        "  case $state in",
        "    command) _describe command commands ;;",
        "    argument)",
        "      case $line[1] in",
        *(f"        {child}) {name}_{child} ;;" for child in children),
        "      esac ;;",
        "  esac",
        "}",
    ]


def zsh_completion(commands):
    lines = ["#compdef tracenorm", "# Completion of tracenorm for zsh, made by packaging/manual.py."]
    for command in sorted(commands, key=len, reverse=True):
        lines += zsh_function(commands, command, commands[command])
    return "\n".join([*lines, '_tracenorm "$@"', ""])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    version = (pathlib.Path(__file__).resolve().parents[1] / "VERSION").read_text().strip()
    commands = {command: parse(text) for command, text in all_commands(program).items()}
    folder.mkdir(parents=True, exist_ok=True)
    page = manual_page(commands, version).encode()
    (folder / "tracenorm.1.gz").write_bytes(gzip.compress(page, mtime=0))  # without a date: the same bytes every time
    (folder / "tracenorm").write_text(bash_completion(commands))
    (folder / "_tracenorm").write_text(zsh_completion(commands))


if __name__ == "__main__":
    main()
