# SPDX-License-Identifier: MIT
"""What a round trip must know of an optimizer: how its state moves, whether its step depends on the
weights, and how it decays them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from .. import transport

#: Moments of optimizers whose other state does not move, in addition to transport's tables.
_MOMENTS = {
    "Lion": {"exp_avg": "cotangent"},
    "SOAP": {"exp_avg": "cotangent"},
    "Prodigy": {"p0": "point", "s": "cotangent", "exp_avg": "cotangent"},
}

#: Weight decay that is a factor on the weights, whatever the group says.
_DECOUPLED = ("AdamW", "Muon", "Lion", "SOAP")

#: Kinds of state that move with the gauge. Squares, sizes and steps without a scale stay.
MOVING = ("point", "tangent", "cotangent")

_REFUSED = {
    "LBFGS": "calls its closure several times a step, and a gauge holds for one",
    "SAM": "takes gradients at two points a step, and a gauge holds for one",
    "DAdapt": "measures its rate by steps of different gauges; Prodigy does not",
}


def checked(optimizer: Any) -> list[Optimizer]:
    """The optimizers of RoundTrip's second argument."""
    if optimizer is None:
        raise TypeError(
            "RoundTrip wraps an optimizer: optimizer = RoundTrip(model, torch.optim.AdamW("
            "model.parameters(), lr=3e-4)), and optimizer.step() makes the round trip"
        )
    optimizers = list(optimizer) if isinstance(optimizer, Sequence) else [optimizer]
    owners: dict[int, str] = {}
    for o in optimizers:
        if not isinstance(o, Optimizer):
            raise TypeError(
                f"optimizer: found {type(o).__name__}, expected a torch.optim.Optimizer"
            )
        for kind in (c.__name__ for c in type(o).__mro__):
            if kind == "RoundTrip":
                raise TypeError("optimizer: is a RoundTrip already")
            for name, why in _REFUSED.items():
                if name in kind:
                    raise TypeError(f"optimizer: {kind} {why}")
        for p in parameters_of(o):
            if id(p) in owners:
                raise ValueError(
                    f"optimizer: {owners[id(p)]} and {type(o).__name__} share a parameter"
                )
        owners.update((id(p), type(o).__name__) for p in parameters_of(o))
    if not optimizers:
        raise ValueError("optimizer: found an empty list")
    return optimizers


def parameters_of(optimizer: Optimizer) -> list[Tensor]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def state_kinds(optimizer: Optimizer) -> Mapping[str, str] | None:
    """Which state moves with the gauge, by the kinds of `declare_state`; None if that is unknown
    and all of it stays."""
    for cls in type(optimizer).__mro__:
        if cls.__name__ in _MOMENTS:
            return _MOMENTS[cls.__name__]
        if "ScheduleFree" in cls.__name__:
            return {"z": "point"}
    return transport.state_kinds(optimizer)


def reads_weights(optimizer: Optimizer) -> bool:
    """Whether the step may depend on the weights in more than their decay. Then the optimizer gets
    W g^-1; else it starts from zero, which is exact."""
    kinds = state_kinds(optimizer)
    names = {c.__name__ for c in type(optimizer).__mro__}
    return kinds is None or "point" in kinds.values() or not names.isdisjoint(transport.declared())


def is_linear(optimizer: Optimizer) -> bool:
    """Whether steps are proportional to gradients, as those of gradient descent and momentum."""
    return any(c.__name__.startswith(("SGD", "ASGD")) for c in type(optimizer).__mro__)


class Decay:
    """Weight decay of one parameter, applied to W itself by the optimizer's rule."""

    def __init__(self) -> None:
        self.buffer: Tensor | None = None  # momentum of coupled decay

    def check(self, optimizer: Optimizer, group: Mapping[str, Any], name: str) -> None:
        known = _is_decoupled(optimizer, group) or isinstance(optimizer, torch.optim.SGD)
        if group.get("weight_decay", 0) != 0 and not known:
            raise ValueError(
                f"{type(optimizer).__name__} adds weight decay to the gradient of {name} and"
                " divides both by their size, which has no meaning in another gauge: use decoupled"
                " decay, as AdamW does, or weight_decay=0"
            )

    def apply(self, W: Tensor, optimizer: Optimizer, group: Mapping[str, Any]) -> Tensor:
        """W after its decay; W itself stays."""
        decay, rate = group.get("weight_decay", 0), group["lr"]
        if decay == 0:
            return W
        if _is_decoupled(optimizer, group):
            return W * (1 - (1 if group.get("fixed_decay") else rate) * decay)
        d = W * decay  # of torch.optim.SGD
        if group["momentum"]:
            if self.buffer is None:
                self.buffer = d.clone()
            else:
                self.buffer.mul_(group["momentum"]).add_(d, alpha=1 - group["dampening"])
            d = d.add(self.buffer, alpha=group["momentum"]) if group["nesterov"] else self.buffer
        return W.add(d, alpha=-rate)


def _is_decoupled(optimizer: Optimizer, group: Mapping[str, Any]) -> bool:
    if "weight_decouple" in group:
        return bool(group["weight_decouple"])
    names = (c.__name__ for c in type(optimizer).__mro__)
    return bool(group.get("decoupled_weight_decay")) or any(n in _DECOUPLED for n in names)
