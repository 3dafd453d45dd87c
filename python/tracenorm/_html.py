"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def table(caption: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A small table: labels in the first column, numbers at the right."""
    lines = [f"<table><caption>{escape(caption)}</caption><tbody>"]
    for label, *cells in rows:
        columns = "".join(f'<td style="text-align:right">{escape(cell)}</td>' for cell in cells)
        lines.append(f'<tr><th style="text-align:left">{escape(label)}</th>{columns}</tr>')
    return "\n".join([*lines, "</tbody></table>"])
