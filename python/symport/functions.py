# SPDX-License-Identifier: MIT
"""Functions of a few variables or tensors, minimised with teleports along a symmetry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symport._arrays import real
from symport._library import core
from symport._options import text_of, texts
from symport.gauge import GaugeLike, gauge_text
from symport.runs import Run

Floats = NDArray[np.float64]
#: A flat array, or arrays by name.
Point = Any


def _floats(values: ArrayLike, what: str) -> Floats:
    return real(values, what).astype(np.float64, copy=False)


class _Parts:
    """Arrays by name as one flat array, in C order, and back."""

    def __init__(self, start: Mapping[str, ArrayLike]):
        arrays = {name: _floats(value, f"start, array {name}") for name, value in start.items()}
        self.shapes = [(name, array.shape) for name, array in arrays.items()]
        for name, shape in self.shapes:
            if not shape:
                raise ValueError(f"start, array {name}: found a single number, allowed is an array")
        self.sizes = [array.size for array in arrays.values()]

    def flat(self, parts: Mapping[str, ArrayLike], what: str) -> Floats:
        pieces = []
        if set(parts) != {name for name, _ in self.shapes}:
            raise ValueError(
                f"{what}: found the names {sorted(parts)}, "
                f"allowed are {sorted(name for name, _ in self.shapes)}"
            )
        for name, shape in self.shapes:
            array = _floats(parts[name], f"{what}, array {name}")
            if array.shape != shape:
                raise ValueError(
                    f"{what}, array {name}: found the shape {array.shape}, allowed is {shape}"
                )
            pieces.append(array.ravel())
        return np.concatenate(pieces)

    def named(self, flat: Floats) -> dict[str, Floats]:
        pieces = np.split(flat, np.cumsum(self.sizes)[:-1])
        return {
            name: piece.reshape(shape)
            for (name, shape), piece in zip(self.shapes, pieces, strict=True)
        }


def _function_name(f: Callable[..., Any]) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "", getattr(f, "__name__", "")) or "function"


def optimize(
    f: Callable[[Point], float] | str,
    grad: Callable[[Point], Point] | None = None,
    start: Point | None = None,
    symmetry: str | GaugeLike | None = None,
    *,
    hessian_vector: Callable[[Point, Point], Point] | None = None,
    name: str | None = None,
    **options: Any,
) -> Run:
    """Minimises f with an optimizer that teleports now and then along `symmetry`.

    `f` is a Python function with its gradient `grad`, of a flat float64 array or of arrays by name,
    as `start` is; or the name of one of the program's test functions ("rosenbrock", "booth",
    "quadratic:10,100", ...), which brings start and symmetry along.

    `symmetry` is one of

    - the name of a test function: its symmetry, for a function that has the same one;
    - a list of `Group` with their slots in the arrays of `start`, a gauge file, or None.

    Options are those of ``symport optimize``, with underscores: `steps`, `lr` (default: "auto",
    measured, for gd), `optimizer`, `teleport` (a schedule such as "every:100"; default: "auto",
    where it pays for itself), `search`, `search_steps`, `objective`, `state`, `rehearsal`, `seed`,
    ...; `symport.options("optimize")` lists them.

    `hessian_vector(x, v)`, if given, is the Hessian of f at x times v; otherwise it is a central
    difference of gradients.
    """
    library = core()
    if isinstance(f, str):
        if grad is not None or symmetry is not None or hessian_vector is not None:
            raise ValueError(f"f: '{f}' has its own gradient and symmetry; give f alone")
        if start is not None:
            options["start"] = start
        return Run(library.optimize_named(texts({"function": f, **options})))
    if grad is None or start is None:
        raise ValueError("grad and start: missing, allowed is the gradient of f and a start")

    if isinstance(start, Mapping):
        parts = _Parts(start)
        flat = parts.flat(start, "start")

        def loss(x: Floats) -> float:
            return float(f(parts.named(x)))

        def gradient(x: Floats) -> Floats:
            return parts.flat(grad(parts.named(x)), "grad")

        def product(x: Floats, v: Floats) -> Floats:
            assert hessian_vector is not None
            return parts.flat(hessian_vector(parts.named(x), parts.named(v)), "hessian_vector")

        shapes = parts.shapes
    else:
        parts = None
        flat = _floats(start, "start").copy()
        if flat.ndim != 1:
            raise ValueError(
                f"start: found the shape {flat.shape}, allowed is one axis, or arrays by name"
            )

        def loss(x: Floats) -> float:
            return float(f(x))

        def gradient(x: Floats) -> Floats:
            return np.ascontiguousarray(_floats(grad(x), "grad"))

        def product(x: Floats, v: Floats) -> Floats:
            assert hessian_vector is not None
            return np.ascontiguousarray(_floats(hessian_vector(x, v), "hessian_vector"))

        shapes = [("x", flat.shape)]

    named = symmetry if isinstance(symmetry, str) and not symmetry.endswith(".json") else None
    slots = None if symmetry is None or named is not None else gauge_text(symmetry)
    run = library.optimize_own(
        name or _function_name(f),
        loss,
        gradient,
        product if hessian_vector is not None else None,
        flat,
        [(key, list(shape)) for key, shape in shapes],
        named,
        slots,
        texts(options),
    )
    return Run(run, parts.named if parts is not None else None)


def options(command: str) -> list[tuple[str, str, str]]:
    """The options of "optimize" or "train": name, what it takes, and how to choose it."""
    listed: Iterable[tuple[str, str, str]] = core().options(command)
    return [(option.replace("-", "_"), value, help) for option, value, help in listed]


__all__ = ["optimize", "options", "text_of"]
