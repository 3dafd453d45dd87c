"""A progress bar: tqdm's where it is installed, otherwise a line on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from ._core import Iteration


def _words(iteration: Iteration) -> str:
    return f"objective {iteration.objective:.6g}, certified gap {100 * iteration.relative_gap:.2f} %"


class _Line:
    """What tqdm would do, without tqdm."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.n = 0
        self._last = 0.0

    def show(self, iteration: Iteration) -> None:
        self.n = iteration.k
        if time.monotonic() - self._last > 0.1:
            self._last = time.monotonic()
            print(f"\r{self.n}/{self.total} {_words(iteration)}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)


class _Bar:
    def __init__(self, total: int) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(total=total, unit="it")

    def show(self, iteration: Iteration) -> None:
        self._bar.set_postfix_str(_words(iteration), refresh=False)
        self._bar.update(iteration.k - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class Progress:
    """Shows the iterations of one run; passes them on to a user's callback."""

    def __init__(self, total: int, callback: Callable[[Iteration], Any] | None) -> None:
        self._callback = callback
        self._bar: _Bar | _Line
        try:
            self._bar = _Bar(total)
        except ImportError:
            self._bar = _Line(total)

    def __call__(self, iteration: Iteration) -> Any:
        self._bar.show(iteration)
        return self._callback(iteration) if self._callback is not None else None

    def close(self) -> None:
        self._bar.close()
