"""Processes that run a program, among all that one process has started."""

import os
import pathlib


def processes_of(pid, program):
    """Numbers of the processes that descend from this one, itself included, and run the program (Linux)."""
    children = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "stat").read_text()
        except OSError:
            continue  # it has ended since
        children.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(folder.name))
    todo, found = [pid], []
    while todo:
        one = todo.pop()
        todo += children.get(one, [])
        try:
            if os.path.samefile(f"/proc/{one}/exe", program):
                found.append(one)
        except OSError:
            continue
    return found
