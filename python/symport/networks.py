# SPDX-License-Identifier: MIT
"""Multi-layer perceptrons in NumPy arrays: teleports, closed forms, training.

Weights are W1 (out x in), W2, ... with biases b1, b2, ... or without; X has a row for each sample,
Y is either a vector of classes or a matrix with a row of targets for each sample.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from symport._arrays import Array, movable, real
from symport._library import core
from symport._options import texts
from symport.gauge import GaugeLike, gauge_text, hidden_unit_groups
from symport.runs import Run

if TYPE_CHECKING:
    from symport._core import Certificate

#: W1, b1, W2, ... by name, or the weight matrices of a network without biases in their order.
Weights = Mapping[str, Array] | Sequence[Array]


def _named(weights: Weights) -> dict[str, Array]:
    if isinstance(weights, Mapping):
        named = dict(weights)
    else:
        named = {f"W{i}": W for i, W in enumerate(weights, start=1)}
    types = {np.asarray(array).dtype for array in named.values()}
    if types not in ({np.dtype(np.float64)}, {np.dtype(np.float32)}):
        raise ValueError(
            f"weights: found arrays of {', '.join(sorted(map(str, types))) or 'no type'}, "
            "allowed are float64, or float32 for all"
        )
    return named


def _samples(X: ArrayLike, Y: ArrayLike) -> dict[str, Array]:
    targets = real(Y, "Y")
    if targets.ndim == 1 and targets.dtype.kind in "iu":
        return {"X": _numbers(X, "X"), "y": targets.astype(np.int64)}
    return {"X": _numbers(X, "X"), "Y": _numbers(targets, "Y")}


def _numbers(values: ArrayLike, what: str) -> Array:
    array = real(values, what)
    return array if array.dtype in (np.float32, np.float64, np.uint8) else array.astype(np.float64)


def teleport(
    weights: Weights,
    X: ArrayLike,
    Y: ArrayLike,
    *,
    activation: str,
    loss: str,
    lr: float | str,
    symmetry: str | None = None,
    search: str = "auto",
    **options: Any,
) -> Certificate:
    """Moves the weights, in place, along a symmetry of the loss on (X, Y).

    The loss stays, on all data or on these samples (`gl`): the certificate has the scope. The next
    steps of gradient descent at the rate `lr` ("auto": at the best length of each) gain more. A
    refused teleport leaves every bit of the weights as it was, and the certificate says why. The
    certificate is about the numbers that the arrays have afterwards: with `precision="double"` and
    float32 arrays it is computed in double, from weights that are rounded to float32.
    Compare its `loss_before` with your own number: a wrong activation destroys the network.

    `symmetry` is rescale, gl, linear_gl, permutation, sign_flip, ... (None: rescale where the
    activation allows it, otherwise gl); `activation`, `loss`, `search` and the other options are
    those of ``symport teleport``, with underscores:
    `objective`, `kappa`, `search_steps`, `allow_partial_batch`, `seed`, `threads`, ...
    """
    named = _named(weights)
    movable(named, "weights", {"X": X, "Y": Y})
    given = {
        "activation": activation,
        "loss": loss,
        "lr": lr,
        "symmetry": symmetry,
        "search": search,
        **options,
    }
    certificate, moved = core().teleport_network(named, _samples(X, Y), texts(given))
    if certificate.accepted:
        for name, array in named.items():
            array[...] = moved[name]
    return certificate


def gradient(
    weights: Weights,
    X: ArrayLike,
    Y: ArrayLike,
    *,
    activation: str = "leaky_relu",
    loss: str | None = None,
    threads: int = 1,
) -> tuple[float, dict[str, Array]]:
    """The loss on (X, Y) and its gradient by name."""
    return core().gradient(_named(weights), _samples(X, Y), activation, loss, threads)


def white_direction(
    weights: Weights,
    X: ArrayLike,
    Y: ArrayLike,
    *,
    activation: str = "leaky_relu",
    loss: str | None = None,
    damping: float | None = None,
    threads: int = 1,
) -> tuple[float, dict[str, Array]]:
    """The loss, and the direction of a step in the white gauge: the gradient times (A + λ)^-1.

    A is the Gram matrix of each layer's inputs over the batch, λ = `damping` in units of its mean
    eigenvalue.
    """
    value, _, direction = core().white_direction(
        _named(weights), _samples(X, Y), activation, loss, damping, threads
    )
    return value, direction


def round_trip(
    weights: Weights,
    X: ArrayLike,
    Y: ArrayLike,
    *,
    theta: float | None = None,
    activation: str = "leaky_relu",
    loss: str | None = None,
    damping: float | None = None,
    threads: int = 1,
) -> float:
    """One step in the white gauge, in place: teleport there, step, come back.

    `theta` has no unit and is at most 1; None: the usual one. Returns the loss before the step.
    """
    named = _named(weights)
    movable(named, "weights", {"X": X, "Y": Y})
    value, usual, direction = core().white_direction(
        named, _samples(X, Y), activation, loss, damping, threads
    )
    rate = usual if theta is None else float(theta)
    if not 0.0 < rate <= 1.0:
        raise ValueError(f"theta: found {rate}, allowed is a number > 0 and <= 1")
    for name, array in named.items():
        array -= array.dtype.type(rate) * direction[name]
    return value


@dataclass(frozen=True)
class GaugeMove:
    """What became of one group of a gauge."""

    kind: str
    size: int
    moved: bool
    reason: str  #: why it stays; empty when it moved


@dataclass(frozen=True)
class GaugeCertificate:
    """What a data-free teleport did. No loss was evaluated."""

    objective: str
    scope: str
    accepted: bool
    reason: str
    squared_norm_before: float
    squared_norm_after: float
    condition: float
    bit_exact: bool
    sweeps: int
    groups: list[GaugeMove]
    seconds: float

    @classmethod
    def _of(cls, text: str) -> GaugeCertificate:
        fields = json.loads(text)
        for name in ("loss_before", "loss_after", "drift", "evaluations"):
            del fields[name]
        for name in ("squared_norm_before", "squared_norm_after", "condition"):
            fields[name] = float(fields[name])
        fields["groups"] = [GaugeMove(**group) for group in fields["groups"]]
        return cls(**fields)


def balance(
    tensors: MutableMapping[str, Array],
    gauge: GaugeLike | None = None,
    *,
    activation: str | None = None,
    objective: str = "balance",
    scales: str = "powers-of-two",
) -> GaugeCertificate:
    """Moves tensors, in place, to the point of their orbit with the smallest squared norm.

    Needs no data. `gauge` is a gauge file, its content, or a list of `Group`; for a perceptron
    (W1, b1, W2, ...) its `activation` is enough. `objective` may also be "orthonormal". With the
    default `scales` every bit of the outputs stays; "any" reaches the minimum exactly. Tensors that
    the gauge does not name are not touched and may be of any type.
    """
    if (gauge is None) == (activation is None):
        raise ValueError("gauge: allowed is a gauge, or the activation of a perceptron")
    groups = hidden_unit_groups(tensors, activation) if activation is not None else gauge
    assert groups is not None
    content = gauge_text(groups)
    names = core().gauge_names(content)
    named = {name: array for name, array in tensors.items() if name in names}
    movable(named, "tensors", {name: tensors[name] for name in tensors if name not in names})
    text, moved = core().gauge_tensors(named, content, objective, scales)
    certificate = GaugeCertificate._of(text)
    if certificate.accepted:
        for name, array in named.items():
            array[...] = moved[name]
    return certificate


def balance_file(
    weights: str | PathLike[str],
    gauge: str | PathLike[str],
    out: str | PathLike[str],
    *,
    objective: str = "balance",
    scales: str = "powers-of-two",
    force: bool = False,
) -> GaugeCertificate:
    """The same of a .safetensors or .npz file: ``symport teleport --gauge``."""
    text = core().gauge_file(fspath(weights), fspath(gauge), fspath(out), objective, scales, force)
    return GaugeCertificate._of(text)


def train(
    data: str | PathLike[str] | tuple[ArrayLike, ArrayLike] | None = None,
    *,
    test: str | PathLike[str] | tuple[ArrayLike, ArrayLike] | None = None,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    resume: str | PathLike[str] | None = None,
    **options: Any,
) -> Run:
    """Trains a perceptron, with the options of ``symport train``.

    `data` and `test` are (X, Y), or names as the program has them: "mnist", "digits.npz",
    "csv:FILE", ... Options have underscores: `layers` (a list), `activation`, `batch`, `epochs` or
    `steps`, `lr`, `optimizer`, `teleport`, `symmetry`, `round_trip` ("kept" or "metric"),
    `precision`, `validation`, `threads`, `seed`, ...; `symport.options("train")` lists them.

    With `out` the run is written to a directory as it goes, and Ctrl-C ends it in good order: a
    KeyboardInterrupt then leaves a directory from which ``train(resume=directory)`` goes on.
    """
    arrays: dict[str, dict[str, Array] | None] = {"data": None, "test": None}
    for name, value in (("data", data), ("test", test)):
        if isinstance(value, tuple):
            if len(value) != 2:
                raise ValueError(f"{name}: found {len(value)} arrays, allowed are two, X and Y")
            arrays[name] = _samples(*value)
        elif value is not None:
            options[name] = fspath(value)
    if resume is not None and (out is not None or data is not None or test is not None):
        raise ValueError("resume: cannot be combined with out, data and test")
    run = core().train(
        texts(options),
        arrays["data"],
        arrays["test"],
        None if out is None else fspath(out),
        force,
        None if resume is None else fspath(resume),
    )
    return Run(run)
