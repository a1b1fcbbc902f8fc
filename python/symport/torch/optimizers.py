# SPDX-License-Identifier: MIT
"""The optimizers of a training loop: one, several such as `[muon, adamw]`, or a RoundTrip."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from .round_trip.optimizer import RoundTrip
from .transport import Refused

#: What `Teleporter` and `teleport` take.
OptimizerOrSeveral = Optimizer | Sequence[Optimizer]


def check_optimizer(optimizer: OptimizerOrSeveral) -> None:
    """Raises TypeError or ValueError for what is neither an optimizer nor a list of them."""
    steppers = given(optimizer)
    if not steppers:
        raise ValueError("optimizer: found an empty list")
    owners: dict[Tensor, Optimizer] = {}
    for o in steppers:
        name = type(o).__name__
        if not isinstance(o, Optimizer):
            raise TypeError(
                f"optimizer: {repr(o) if isinstance(o, str) else name}; expected the"
                " torch.optim.Optimizer that trains the model, or a list of all that do, whose"
                " state moves along, such as torch.optim.Adam(model.parameters())"
            )
        if isinstance(o, RoundTrip) and len(steppers) > 1:
            raise TypeError("optimizer: a RoundTrip in a list; make one RoundTrip of the others")
        for p in (p for group in o.param_groups for p in group["params"]):
            owner = owners.setdefault(p, o)
            if owner is not o:
                raise ValueError(f"optimizer: {type(owner).__name__} and {name} share a parameter")


def given(optimizer: OptimizerOrSeveral | None) -> list[Optimizer]:
    """Those that the training loop steps."""
    if optimizer is None:
        return []
    return list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer]


def members(optimizer: OptimizerOrSeveral | None) -> list[Optimizer]:
    """Those that keep state: of a RoundTrip, the ones inside."""
    return [
        m for o in given(optimizer) for m in (o.optimizers if isinstance(o, RoundTrip) else [o])
    ]


def together(optimizer: OptimizerOrSeveral | None) -> Optimizer | Several | None:
    """As one, for trial steps."""
    all_of_them = given(optimizer)
    if len(all_of_them) > 1:
        return Several(all_of_them)
    return all_of_them[0] if all_of_them else None


class Several:
    """Optimizers that step together, as far as a trial step needs them to be one."""

    def __init__(self, optimizers: Sequence[Optimizer]) -> None:
        self.optimizers = list(optimizers)

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        return [group for o in self.optimizers for group in o.param_groups]

    def step(self) -> None:
        for o in self.optimizers:
            o.step()

    def __deepcopy__(self, memo: dict[int, Any]) -> Several:
        if any(isinstance(o, torch.optim.LBFGS) for o in self.optimizers):
            raise Refused("a trial step needs an optimizer, and LBFGS calls its closure by itself")
        twins = []
        for o in self.optimizers:
            twin = copy.deepcopy(o, memo)
            # What a class of one's own keeps besides parameter groups and state.
            missing = {k: v for k, v in vars(o).items() if k not in vars(twin) and k != "step"}
            vars(twin).update(missing)
            twins.append(twin)
        return Several(twins)
