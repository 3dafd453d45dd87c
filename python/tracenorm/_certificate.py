"""Certificates: files that prove how good an answer is."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy.typing as npt

from . import _core


class Certificate:
    """What a run claims of its answer, with the dual point that proves it; ``verify`` checks it.

    ``solve(..., certificate=True)`` and ``fit`` make one, ``save`` writes the file that the program's ``--certificate``
    writes, ``load`` reads it.
    """

    def __init__(self, claim: _core.Claim) -> None:
        self._claim = claim

    @property
    def shape(self) -> tuple[int, int]:
        return self._claim.shape

    @property
    def loss(self) -> str:
        return self._claim.loss

    @property
    def penalty(self) -> str:
        return self._claim.penalty

    @property
    def radius(self) -> float:
        return self._claim.radius

    @property
    def objective(self) -> float:
        """Claimed: the answer's objective is at most this."""
        return self._claim.objective

    @property
    def lower_bound(self) -> float:
        """Claimed: no matrix of the ball has a smaller objective."""
        return self._claim.lower_bound

    @property
    def slopes(self) -> npt.NDArray[Any]:
        """The dual point: a slope per observed entry, row by row, or per entry of the matrix (read-only)."""
        return self._claim.slopes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a ``.npz`` that ``tracenorm verify`` and ``numpy.load`` open as well."""
        try:
            self._claim.save(os.fspath(path))
        except ValueError as error:
            raise OSError(str(error)) from None

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Certificate:
        """Reads a certificate that ``save`` or the program wrote."""
        path = os.fspath(path)
        if not os.path.exists(path):
            raise FileNotFoundError(f"no certificate file {path!r}")
        return Certificate(_core.Claim.load(path))

    def __repr__(self) -> str:
        rows, cols = self.shape
        return (
            f"<tracenorm.Certificate: {rows} x {cols}, {self.loss}, radius {self.radius:.6g}, "
            f"objective {self.objective:.6g}, lower bound {self.lower_bound:.6g}>"
        )

    # A certificate travels as the file it would be saved to.
    def __getstate__(self) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "certificate.npz")
            self._claim.save(path)
            with open(path, "rb") as file:
                return {"npz": file.read()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "certificate.npz")
            with open(path, "wb") as file:
                file.write(state["npz"])
            self._claim = _core.Claim.load(path)


__all__ = ["Certificate"]
