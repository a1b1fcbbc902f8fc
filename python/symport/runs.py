# SPDX-License-Identifier: MIT
"""Runs that ended, their directories and their reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symport._library import core

Array = NDArray[Any]


class Run:
    """A run that ended, or what its directory says about it."""

    def __init__(
        self,
        run: Any,
        parts: Callable[[NDArray[np.float64]], dict[str, NDArray[np.float64]]] | None = None,
    ):
        self._run = run
        self._parts = parts

    @property
    def status(self) -> str:
        """step_limit, converged, diverged or interrupted."""
        return self._run.status

    @property
    def loss(self) -> float:
        """Where it ended."""
        return self._run.loss

    @property
    def steps(self) -> int:
        """Updates made."""
        return self._run.steps

    @property
    def x(self) -> Any:
        """The final point of a function, in the form of its start; None for a network."""
        point = self._run.x
        return self._parts(point) if self._parts is not None and point is not None else point

    @property
    def weights(self) -> dict[str, Array] | None:
        """The final weights of a network by name (W1, b1, W2, ...); None for a function."""
        return self._run.weights

    @property
    def teleports(self) -> list[Any]:
        """The certificates of all teleports, refused ones included."""
        return self._run.teleports

    @property
    def trace(self) -> dict[str, NDArray[np.float64]]:
        """Columns by name: step or epoch, loss or train_loss, grad_sq, seconds, ..."""
        return self._run.trace

    @property
    def config(self) -> str:
        """config.toml: every option of the run, as a file that repeats it."""
        return self._run.config

    def to_json(self) -> str:
        """The run as one JSON object: its summary.json."""
        return self._run.to_json()

    def __repr__(self) -> str:
        return repr(self._run)


def write_run(run: Run, directory: str | PathLike[str], force: bool = False) -> None:
    """Writes a run directory, as --out of the program does: config.toml, trace.csv, ...

    Samples that were given as arrays are kept in it. `force` lets it replace files.
    """
    core().write_run(run._run, fspath(directory), force)


def read_run(directory: str | PathLike[str]) -> Run:
    """The run in a directory that this or the program wrote."""
    return Run(core().read_run(fspath(directory)))


def report(
    runs: Run | str | PathLike[str] | Iterable[Run | str | PathLike[str]],
    file: str | PathLike[str] = "report.html",
    title: str = "",
    force: bool = False,
) -> str:
    """One HTML page with the figures of some runs, or of run directories. Returns its path."""
    if isinstance(runs, (Run, str, PathLike)):
        runs = [runs]
    listed = [run._run if isinstance(run, Run) else fspath(run) for run in runs]
    core().report(listed, fspath(file), title, force)
    return fspath(file)
