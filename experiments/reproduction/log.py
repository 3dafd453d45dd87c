"""The finished runs of a reproduction, one JSON object a line."""

import json
import os

from . import fail


class Log:
    """A line is written whole and synced before its run counts as finished. One that a crash cut off is dropped, and
    its run is done again."""

    def __init__(self, path):
        self.path, self.runs = path, {}
        content = path.read_bytes() if path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            os.truncate(path, len(whole))
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                run = json.loads(line)
                self.runs[run["key"]] = run
            except (ValueError, KeyError, TypeError):
                fail(f"{path}:{number}: not a finished run; remove the line, and it is run again")

    def last_version(self):
        """That of the program which made the last run; None where there are no runs."""
        return list(self.runs.values())[-1]["result"]["environment"]["version"] if self.runs else None

    def append(self, run):
        with open(self.path, "ab") as file:
            file.write(json.dumps(run, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.runs[run["key"]] = run
