# SPDX-License-Identifier: MIT
"""How an optimizer's state moves with the parameters.

A teleport multiplies an axis of a parameter by rho. A state tensor of the parameter's shape follows
by its kind, on the same axis:

    point, tangent       rho            (weights, averages of weights, steps)
    cotangent            rho^-T         (gradients, momentum)
    squared_cotangent    rho^-T o rho^-T, entry by entry: second moments
    absolute_cotangent   |rho^-T|
    squared_tangent      rho o rho
    absolute_tangent     |rho|
    normalised           nothing but signs and order: sums of steps that have no scale
    scalar               nothing: counters, and whatever does not depend on the gauge

The squared and absolute kinds are exact for scalings, signs and permutations. A matrix of GL or O
mixes entries whose correlations the optimizer does not keep: there the formula is an approximation
(uncorrelated entries), and the certificate says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.optim import Optimizer

from .slots import STATES

KINDS = (*STATES, "scalar")

#: What to choose from, in words.
MEANINGS = (
    "'point' (weights, or averages of weights), 'tangent' (steps), 'cotangent' (gradients, or"
    " averages of gradients), 'squared_cotangent' or 'absolute_cotangent' (averages of their"
    " squares or sizes), 'squared_tangent' or 'absolute_tangent' (the same of steps), 'normalised'"
    " (steps without a scale) or 'scalar' (counters)"
)

#: Kinds that a matrix of GL or O moves exactly, being linear in the state.
LINEAR_KINDS = ("point", "tangent", "cotangent", "scalar")

_ADAM = {
    "step": "scalar",
    "exp_avg": "cotangent",
    "exp_avg_sq": "squared_cotangent",
    "max_exp_avg_sq": "squared_cotangent",
}

# By class name, so that optimizers of newer versions of torch need no import. A subclass inherits
# the row of its base class.
_STATE: dict[str, dict[str, str]] = {
    "SGD": {"momentum_buffer": "cotangent"},
    "Muon": {"momentum_buffer": "cotangent"},
    "Adam": _ADAM,
    "AdamW": _ADAM,
    "NAdam": {**_ADAM, "mu_product": "scalar"},
    "RAdam": _ADAM,
    "SparseAdam": _ADAM,
    "Adamax": {"step": "scalar", "exp_avg": "cotangent", "exp_inf": "absolute_cotangent"},
    "Adagrad": {"step": "scalar", "sum": "squared_cotangent"},
    "RMSprop": {
        "step": "scalar",
        "square_avg": "squared_cotangent",
        "grad_avg": "cotangent",
        "momentum_buffer": "normalised",  # accumulates g / sqrt(v)
    },
    "Adadelta": {
        "step": "scalar",
        "square_avg": "squared_cotangent",
        "acc_delta": "squared_tangent",
    },
    "Rprop": {"step": "scalar", "prev": "cotangent", "step_size": "absolute_tangent"},
    "ASGD": {"step": "scalar", "eta": "scalar", "mu": "scalar", "ax": "point"},
}

# L-BFGS keeps one flat vector for all parameters: y and the last gradient are cotangents, s and the
# last direction tangents; 1 / <y, s> is invariant. H_diag = <y, s> / <y, y> is not; it is computed
# anew from the moved y and s at the next step.
_LBFGS: dict[str, str] = {
    "d": "tangent",
    "old_stps": "tangent",
    "prev_flat_grad": "cotangent",
    "old_dirs": "cotangent",
}
_LBFGS_SCALARS = ("func_evals", "n_iter", "t", "ro", "H_diag", "prev_loss", "al")


_DECLARED: set[str] = set()  # classes that the user described


class Refused(Exception):
    """A teleport that cannot be made; its message is the reason in the certificate."""


def declare_state(optimizer: type[Optimizer], kinds: Mapping[str, str]) -> None:
    """Say how the state of an optimizer that Symport does not know moves with the parameters.

    `kinds` has the keys of `optimizer.state[parameter]`, each with one of the kinds above:

        declare_state(Lion, {"exp_avg": "cotangent"})

    A tensor of a kind other than "scalar" must have its parameter's shape. A point that is far from
    the weights gives a warning, and so does a tangent or cotangent close to them.
    """
    if not (isinstance(optimizer, type) and issubclass(optimizer, Optimizer)):
        raise TypeError(f"declare_state: found {optimizer!r}, expected the optimizer's class")
    for key, kind in kinds.items():
        if kind not in KINDS:
            raise ValueError(f"declare_state: {key!r} has kind {kind!r}; expected {MEANINGS}")
    _STATE[optimizer.__name__] = dict(kinds)
    _DECLARED.add(optimizer.__name__)


def declared() -> set[str]:
    """The names of the classes that `declare_state` described."""
    return _DECLARED


def state_kinds(optimizer: Optimizer) -> dict[str, str] | None:
    """The row of the table for this optimizer, or None for one that is not known."""
    for cls in type(optimizer).__mro__:
        if cls.__name__ in _STATE:
            return _STATE[cls.__name__]
    return None


@dataclass(frozen=True)
class StateEntry:
    """One tensor to move along with the parameter `name`."""

    name: str
    key: str
    kind: str
    tensor: Tensor


def state_entries(optimizer: Optimizer, names: Mapping[Tensor, str]) -> list[StateEntry]:
    """The tensors of the optimizer's state, each with the parameter and the kind it moves by.

    `names` maps parameters to their names. Raises `Refused` for state that nobody declared.
    """
    if isinstance(optimizer, torch.optim.LBFGS):
        return list(_lbfgs_entries(optimizer, names))
    kinds = state_kinds(optimizer)
    entries = []
    for parameter, state in optimizer.state.items():
        name = names.get(parameter)
        if name is None:
            continue
        for key, value in state.items():
            moves = isinstance(value, Tensor) and value.shape == parameter.shape
            if kinds is not None and key in kinds:
                if kinds[key] == "scalar":
                    continue
                if not moves:
                    if value is None:  # SGD before its first step with momentum
                        continue
                    raise Refused(
                        f"{type(optimizer).__name__} keeps {key!r} of {name} in a shape that is "
                        "not the parameter's"
                    )
                entries.append(StateEntry(name, key, kinds[key], value))
            elif isinstance(value, Tensor) and value.numel() > 1:
                raise Refused(
                    f"{type(optimizer).__name__} keeps {key!r}, and how it moves is not known: say"
                    f" so with symport.torch.declare_state({type(optimizer).__name__},"
                    f" {{{key!r}: KIND}}), where KIND is {MEANINGS}"
                )
    _check_points(optimizer, entries, names)
    return entries


def _check_points(
    optimizer: Optimizer, entries: list[StateEntry], names: Mapping[Tensor, str]
) -> None:
    """A declared point is a copy of the weights, and nothing else is."""
    if type(optimizer).__name__ not in _DECLARED:
        return
    parameters = {name: p for p, name in names.items()}
    for entry in entries:
        if entry.kind not in ("point", "tangent", "cotangent"):
            continue
        p = parameters[entry.name].detach()
        distance = torch.linalg.vector_norm(entry.tensor - p) / torch.linalg.vector_norm(p)
        if entry.kind == "point":
            doubt = "far from the weights; is it a copy of them?" if distance > 2 else ""
        else:
            doubt = "close to the weights; is it a point?" if distance < 0.5 else ""
        if doubt:
            warnings.warn(
                f"{type(optimizer).__name__} keeps {entry.key!r}, declared as a {entry.kind}, but"
                f" that of {entry.name} is {doubt}",
                stacklevel=2,
            )
            return


def _lbfgs_entries(
    optimizer: torch.optim.LBFGS, names: Mapping[Tensor, str]
) -> Iterator[StateEntry]:
    parameters = optimizer.param_groups[0]["params"]
    for state in optimizer.state.values():
        for key, value in state.items():
            if key in _LBFGS_SCALARS or value is None:
                continue
            if key not in _LBFGS:
                raise Refused(f"LBFGS keeps {key!r}, and how it moves is not known")
            for flat in value if isinstance(value, list) else [value]:
                offset = 0
                for p in parameters:
                    part = flat[offset : offset + p.numel()]
                    offset += p.numel()
                    if p in names:
                        yield StateEntry(names[p], key, _LBFGS[key], part.view_as(p))


def mixes_weights_into_gradients(optimizer: Optimizer) -> bool:
    """L2 through the gradient: then momentum holds weights (points) among the cotangents."""
    if any(cls.__name__ in ("AdamW", "Muon") for cls in type(optimizer).__mro__):
        return False
    return any(
        g.get("weight_decay", 0.0) != 0.0 and not g.get("decoupled_weight_decay", False)
        for g in optimizer.param_groups
    )
