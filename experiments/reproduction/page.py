"""A page of text, tables, charts and pictures, said once for two readers: blocks of JSON that the script of the
program's own pages makes HTML of, and Markdown without the drawings."""

import json
import math
import os
import pathlib
import re
import textwrap

from . import EXPERIMENTS, fail

ASSETS = EXPERIMENTS.parent / "apps" / "tracenorm" / "page" / "assets"
CHART_JS = pathlib.Path(os.environ.get("TRACENORM_CHART_JS", "/usr/share/javascript/chart.js/chart.min.js"))


def six_digits(value):
    """More than a screen shows, and the file stays small. JSON has no NaN."""
    if isinstance(value, list | tuple):
        return [six_digits(one) for one in value]
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")


def write_whole(path, text):
    """Written beside its name and renamed: nobody sees a half of it."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text)
    part.replace(path)


def lines_of(text):
    """As people read it in a file: in lines that fit a screen."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


class Page:
    def __init__(self, title, subtitle):
        self.title, self.subtitle = title, subtitle
        self.blocks, self.markdown = [], [f"# {title}\n", f"{lines_of(subtitle)}\n"]

    def add(self, kind, **block):
        self.blocks.append({"kind": kind, **block})

    def heading(self, name, text, level=2):
        self.add("heading", id=name, text=text, level=level)
        self.markdown.append(f"{'#' * level} {text}\n")

    def text(self, text, warning=False):
        self.add("text", text=text, warning=warning)
        self.markdown.append(f"> {text}\n" if warning else f"{lines_of(text)}\n")

    def commands(self, name, summary, lines):
        """Lines to type, that unfold on demand."""
        self.add("commands", id=name, summary=summary, text="\n".join(lines))
        self.markdown.append("\n".join([f"{summary}:\n", "```text", *lines, "```\n"]))

    def table(self, name, caption, columns, rows, words=1):
        """A cell is a text or (text, good | bad | faint); the first `words` columns are words, the others numbers."""
        self.add("table", id=name, caption=caption, columns=columns, rows=rows, words=words)
        texts = [columns, *([cell if isinstance(cell, str) else cell[0] for cell in row] for row in rows)]
        lines = ["|" + "".join(f" {text} |" for text in (one.replace("|", "\\|") for one in row)) for row in texts]
        lines.insert(1, "|" + "---|" * words + "---:|" * (len(columns) - words))
        self.markdown.append("\n".join([f"{lines_of(caption)}\n"] * bool(caption) + lines) + "\n")

    def lines(self, name, caption, abscissae, ordinates, series, log_x=False, log_y=False):
        """Curves to be looked at in several ways. A series is (name, style, x, y) with one list per abscissa in x and
        one per ordinate in y; None leaves a gap. `log_y`: of all ordinates, or a list with one for each."""
        series = [{"name": n, "style": style, "x": six_digits(x), "y": six_digits(y)} for n, style, x, y in series]
        self.add("lines", id=name, caption=caption, abscissae=abscissae, ordinates=ordinates, series=series,
                 logX=log_x, logY=log_y)  # fmt: skip

    def bars(self, name, caption, ordinate, categories, series):
        """One group per category, one bar per series, which is (name, values)."""
        series = [{"name": n, "values": six_digits(values)} for n, values in series]
        self.add("bars", id=name, caption=caption, ordinates=[ordinate], categories=categories, series=series)

    def gallery(self, name, caption, pictures):
        """A picture is (caption, shades): those of a square, row by row, as hexadecimal digits."""
        self.add("gallery", id=name, caption=caption, pictures=pictures)

    def write(self, folder):
        """index.html, one file that needs nothing else, and results.md."""
        if not CHART_JS.is_file():
            fail(f"Chart.js is not at '{CHART_JS}': install it (Debian: libjs-chart.js), or set TRACENORM_CHART_JS")
        data = {"title": self.title, "subtitle": self.subtitle, "blocks": self.blocks}
        marks = {
            "style": (ASSETS / "page.css").read_text(),
            "script": (ASSETS / "page.js").read_text(),
            "chart": CHART_JS.read_text(),
            # A script element ends at the first "</", whatever quotes surround it.
            "page": json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"),
        }
        template = (ASSETS / "page.html").read_text()
        write_whole(folder / "index.html", re.sub(r"@(\w+)@", lambda mark: marks[mark[1]], template))
        write_whole(folder / "results.md", "\n".join(self.markdown))
