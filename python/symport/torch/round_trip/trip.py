# SPDX-License-Identifier: MIT
"""There and back: one parameter while its optimizer takes a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from . import gauge, traits
from .matrices import Matrices, local


class Trip:
    """Holds W and its gradient while the parameter is in the gauge.

    Optimizers whose step does not depend on the weights start from zero, so that what they leave
    is the step to the last bit, and weight decay is applied to W. The others get W g^-1.
    """

    def __init__(
        self, m: Matrices, optimizer: Optimizer, group: dict[str, Any], decay: traits.Decay
    ):
        assert m.source is not None and m.source.g is not None
        self.m, self.optimizer, self.group, self.decay = m, optimizer, group, decay
        self.g = m.source.g
        self.gradient = m.parameter.grad
        self.W = m.parameter.detach().clone()
        self.start: Tensor | None = None
        if traits.reads_weights(optimizer):
            assert m.source.inverse is not None
            self.start = gauge.times(m.of(self.W), m.source.inverse)
        else:
            decay.check(optimizer, group, m.name)

    def there(self) -> None:
        m = self.m
        if self.gradient is not None:
            m.parameter.grad = torch.empty_like(self.gradient)
            m.write(gauge.times(m.of(self.gradient), self.g), m.parameter.grad)
        if self.start is None:
            local(m.parameter).zero_()
        else:
            m.write(self.start, m.parameter)
            self.start = m.of(m.parameter).clone()  # as it is stored

    def back(self) -> None:
        m, W = self.m, local(self.W)
        D = m.of(m.parameter)
        if self.start is None:
            W = self.decay.apply(W, self.optimizer, self.group)
        else:
            D = D - self.start
        m.write(gauge.times(D, self.g), m.parameter)
        local(m.parameter).add_(W)
        m.parameter.grad = self.gradient

    def cancel(self) -> None:
        local(self.m.parameter).copy_(local(self.W))
        self.m.parameter.grad = self.gradient


def moved_state(
    m: Matrices, optimizer: Optimizer, old: Tensor, new: Tensor
) -> Iterator[tuple[Tensor, Tensor]]:
    """What moves with the gauge, and where to. First moments are covectors: M old^-1 new. Points
    and steps are vectors: z old new^-1."""
    state = optimizer.state.get(m.parameter, {})
    for key, kind in (traits.state_kinds(optimizer) or {}).items():
        tensor = state.get(key)
        moves = isinstance(tensor, Tensor) and tensor.shape == m.parameter.shape
        if moves and kind in traits.MOVING:
            covector = kind == "cotangent"
            ratio = gauge.over(new, old) if covector else gauge.over(old, new).mT
            yield tensor, gauge.times(m.of(tensor), ratio)


#: First moments, what tells their size, and the power of an entry that this is the mean of.
_SIZES = (("exp_avg", "exp_avg_sq", 2), ("exp_avg", "exp_inf", 1), ("grad_avg", "square_avg", 2))


def cut_moments(m: Matrices, optimizer: Optimizer, group: dict[str, Any]) -> None:
    """Squares stay at a refresh, so that a first moment can come to an entry that has none yet and
    would step by m / eps. So moments are cut to what the squares allow: |m| <= K sqrt(v), by Cauchy
    and Schwarz for Adam's running means."""
    state, kinds = optimizer.state.get(m.parameter, {}), traits.state_kinds(optimizer) or {}
    b1, b2 = map(float, group.get("betas", (0.0, 0.0))[:2])
    for key, size, e in _SIZES:
        if key in state and size in state and size in kinds:
            K = 0.9  # below 1, as centered RMSprop divides by sqrt(v - m^2)
            if 0 < b1**e < b2:
                K = (1 - b1) / ((1 - b2) ** (e - 1) * (1 - b1**e / b2)) ** (1 / e)
            bound = K * local(state[size]).abs() ** (1 / e)
            local(state[key]).clamp_(-bound, bound)
