"""Processes that solve one problem together, started by mpirun or by a batch system."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from . import _core


class Ranks:
    """Processes that make the same calls together: ``rank`` is this one's number, ``size`` how many there are.

    ``tracenorm.ranks()`` gives those that this process was started among.
    """

    def __init__(self, core: _core.Ranks) -> None:
        self._core = core

    @property
    def rank(self) -> int:
        return self._core.rank

    @property
    def size(self) -> int:
        return self._core.size

    @property
    def is_first(self) -> bool:
        """Whether this is the one to print and to write files."""
        return self.rank == 0

    def __repr__(self) -> str:
        return f"<rank {self.rank} of {self.size}>"


@cache
def ranks() -> Ranks:
    """The processes that this one was started among, for ``solve(..., ranks=tracenorm.ranks())``.

    A script that ``mpirun -n 4 python script.py`` starts runs in four processes; what they are given ``ranks`` for they
    solve together. Started alone there is one, and the same script works. A script that ends with an error in one of
    them ends in all.
    """
    everybody = Ranks(_core.Ranks())
    if everybody.size > 1:
        usual = sys.excepthook

        def end(kind: Any, error: Any, where: Any) -> None:
            alike = everybody._core.all_failed()
            if everybody.is_first or not alike:
                usual(kind, error, where)
            if not alike:
                sys.stderr.flush()
                everybody._core.abort(1)

        sys.excepthook = end
    return everybody


@contextmanager
def together(ranks: Any) -> Iterator[_core.Ranks | None]:
    """What the library takes for the argument ``ranks``. An error that only some ranks have ends them all: the others
    wait for numbers that would never come."""
    if ranks is None:
        yield None
        return
    if isinstance(ranks, Ranks):
        shared = ranks
    elif callable(getattr(ranks, "py2f", None)):
        shared = Ranks(_core.Ranks(ranks.py2f()))
    else:
        raise TypeError(f"ranks = {ranks!r}; it must be tracenorm.ranks() or a communicator of mpi4py")
    try:
        yield shared._core
    except BaseException:
        if shared.size > 1 and not shared._core.all_failed():
            traceback.print_exc()
            sys.stderr.flush()
            shared._core.abort(1)
        raise
