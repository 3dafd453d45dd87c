"""Names of rows and columns: any ids in, positions out, by the same rule as the program's readers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")

_LARGEST_WHOLE = 2**53
"""Of floats beyond it, not every whole number is one."""


def as_ids(values: Any, what: str) -> npt.NDArray[Any]:
    """A one-dimensional array of ids: integers stay integers, whole floats become them, the rest becomes text.

    A number is the same id in every array: 2, 2.0 and "2" are one, whatever stands beside it.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{what} has {array.ndim} dimensions; ids must be a one-dimensional array")
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise ValueError(f"{what} holds an id that is not finite; leave rows without an id out")
        if (array == np.floor(array)).all() and (np.abs(array) < _LARGEST_WHOLE).all():
            return array.astype(np.int64)
    if array.dtype.kind == "O":
        for position, item in enumerate(array):
            if not isinstance(item, (str, int, float, np.generic)) or item != item:  # pd.NA compares to neither
                raise TypeError(f"{what}[{position}] = {item!r}; an id must be text or a number")
    elif array.dtype.kind not in "fU":
        raise TypeError(f"{what} has dtype {array.dtype}; ids must be text or numbers")
    return np.array([_text(item) for item in array], dtype=object)


def _text(item: Any) -> str:
    if isinstance(item, (float, np.floating)) and float(item).is_integer() and abs(float(item)) < _LARGEST_WHOLE:
        return str(int(item))
    return str(item)


def number_ids(values: Any, what: str, ordered: bool = False) -> tuple[npt.NDArray[np.int32], list[str]]:
    """The position of each id, and the names by position.

    Ids that are all integers (also when written as text) are in numerical order, others in the order in which they
    first appear: as in the program's readers, so that the same data give the same bits. `ordered` sorts those too, so
    that the order of the data does not matter.
    """
    ids = as_ids(values, what)
    if ids.dtype.kind in "iu":
        unique, inverse = np.unique(ids, return_inverse=True)
        return inverse.astype(np.int32), [str(item) for item in unique.tolist()]
    first: dict[str, int] = {}
    positions = np.fromiter((first.setdefault(item, len(first)) for item in ids), dtype=np.int32, count=len(ids))
    names = list(first)
    if all(_INTEGER.fullmatch(name) for name in names):
        order = sorted(range(len(names)), key=lambda k: int(names[k]))
    elif ordered:
        order = sorted(range(len(names)), key=names.__getitem__)
    else:
        return positions, names
    place = np.empty(len(names), dtype=np.int32)
    place[order] = np.arange(len(names), dtype=np.int32)
    return place[positions], [names[k] for k in order]


def find_ids(values: Any, index: dict[str, int], what: str) -> npt.NDArray[np.int64]:
    """The position of each id by `index`; -1 where it is not there."""
    ids = as_ids(values, what)
    unique, inverse = np.unique(ids, return_inverse=True)
    positions = np.fromiter((index.get(str(item), -1) for item in unique.tolist()), dtype=np.int64, count=len(unique))
    return positions[inverse]
