# SPDX-License-Identifier: MIT
"""What every rule uses: the table of rules, the terms of a tensor, and the veto."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..charges import NO_RULE, Charges, Terms
from ..recorder import Operation

Rule = Callable[["Context", Operation], list[Terms]]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


class Context:
    """What a rule can ask: the terms of a tensor, and the equations."""

    def __init__(self, charges: Charges, lookup: Callable[[Any], Terms]) -> None:
        self.charges = charges
        self.terms = lookup

    @property
    def signs(self) -> bool:
        return self.charges.modulus == 2

    def leaf_statistics(self, tensor: Tensor, shift: float) -> Terms:
        raise NotImplementedError


def broadcast(terms: Terms, shape: torch.Size | tuple[int, ...]) -> Terms:
    return [term.expand(shape) for term in terms]


def shape_of(op: Operation, output: int = 0) -> torch.Size:
    return op.outputs[output].shape


def argument(op: Operation, position: int, name: str, default: Any = None) -> Any:
    return op.args[position] if len(op.args) > position else op.kwargs.get(name, default)


def axes_of(op: Operation, position: int, ndim: int, name: str = "dim") -> list[int]:
    dims = argument(op, position, name)
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return list(range(ndim))
    dims = [dims] if isinstance(dims, int) else dims
    return [d % ndim for d in dims] if ndim else []


VETOES = {
    "gelu": "gelu is not homogeneous",
    "silu": "silu is not homogeneous",
    "hardtanh": "relu6 and hardtanh saturate",
    "hardswish": "hardswish saturates",
    "hardsigmoid": "hardsigmoid saturates",
    "elu": "elu is not homogeneous",
    "celu": "celu is not homogeneous",
    "selu": "selu is not homogeneous",
    "softplus": "softplus is not homogeneous",
    "mish": "mish is not homogeneous",
    "sigmoid": "sigmoid is not homogeneous",
    "tanh": "tanh is not homogeneous",
    "_softmax": "softmax is not homogeneous",
    "_safe_softmax": "softmax is not homogeneous",
    "_log_softmax": "softmax is not homogeneous",
    "exp": "exp is not homogeneous",
    "log": "log is not homogeneous",
    "clamp": "clamp saturates",
}


def veto(context: Context, op: Operation) -> list[Terms]:
    """The operands must not be scaled."""
    name = op.name.removesuffix("_")
    reason = VETOES.get(name, f"{NO_RULE} {name}" if op.name not in RULES else f"{name}")
    for argument in [*op.args, *op.kwargs.values()]:
        for tensor in argument if isinstance(argument, (list, tuple)) else [argument]:
            context.charges.zero(context.terms(tensor), reason)
    return [[] for _ in op.outputs]
