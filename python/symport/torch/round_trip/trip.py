# SPDX-License-Identifier: MIT
"""There and back: one parameter while its optimizer takes a step."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from . import exchange, gauge, traits
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

    def go(self, G: Tensor | None) -> None:
        """Into the gauge, with the gradient G there."""
        m = self.m
        if G is not None:
            assert self.gradient is not None
            m.parameter.grad = torch.empty_like(self.gradient)
            m.write(G, m.parameter.grad)
        if self.start is None:
            local(m.parameter).zero_()
        else:
            m.write(self.start, m.parameter)

    def step(self) -> Tensor:
        """What the optimizer did there."""
        found = self.m.of(self.m.parameter)
        return found if self.start is None else found - self.m.of(self._rounded())

    def _rounded(self) -> Tensor:
        assert self.start is not None
        stored = torch.empty_like(self.W)
        self.m.write(self.start, stored)
        return stored

    def come(self, D: Tensor) -> None:
        """Back, with the step D here."""
        W = local(self.W)
        if self.start is None:
            self.decay.apply(W, self.optimizer, self.group)
        self.m.write(D, self.m.parameter)
        local(self.m.parameter).add_(W)
        self.m.parameter.grad = self.gradient

    def cancel(self) -> None:
        local(self.m.parameter).copy_(local(self.W))
        self.m.parameter.grad = self.gradient


def there(trips: list[Trip], kept: bool, group: Any) -> None:
    plain = [trip.m.of(trip.gradient) for trip in trips]
    moved = [gauge.times(G, trip.g) for G, trip in zip(plain, trips, strict=True)]
    if kept:
        keep_lengths(moved, plain, trips, group)
    for trip, G in zip(trips, moved, strict=True):
        trip.go(G)


def back(trips: list[Trip], kept: bool, group: Any) -> None:
    steps = [trip.step() for trip in trips]
    moved = [gauge.times(D, trip.g) for D, trip in zip(steps, trips, strict=True)]
    if kept:
        keep_lengths(moved, steps, trips, group)
    for trip, D in zip(trips, moved, strict=True):
        trip.come(D)


def keep_lengths(X: list[Tensor], Y: list[Tensor], trips: list[Trip], group: Any) -> None:
    """X <- X |Y| / |X|, matrix by matrix; shards have the lengths of the whole. Not where the
    optimizer reads weights: what it keeps of them would not fit the step."""
    free = [i for i, trip in enumerate(trips) if trip.start is None]
    lengths = [_squares(X[i], Y[i]) for i in free]
    sharded = [j for j, i in enumerate(free) if trips[i].m.sharded]
    if sharded:
        whole = torch.cat([lengths[i].flatten() for i in sharded])
        parts = exchange.sum_over_shards(whole, group).split([lengths[i].numel() for i in sharded])
        for i, part in zip(sharded, parts, strict=True):
            lengths[i] = part.view_as(lengths[i])
    for i, (before, wanted) in zip(free, lengths, strict=True):
        X[i].mul_((wanted / before).sqrt().where(before > 0, 1)[:, None, None])


def _squares(x: Tensor, y: Tensor) -> Tensor:
    return torch.stack([torch.linalg.vector_norm(t, dim=(1, 2)).square() for t in (x, y)])


def move_state(m: Matrices, optimizer: Optimizer, old: Tensor, new: Tensor) -> None:
    """First moments are covectors: M old^-1 new. Points and steps are vectors: z old new^-1."""
    kinds = traits.state_kinds(optimizer) or {}
    state = optimizer.state.get(m.parameter, {})
    for key, kind in kinds.items():
        tensor = state.get(key)
        if kind not in traits.MOVING or not isinstance(tensor, Tensor):
            continue
        if tensor.shape != m.parameter.shape:
            continue
        X = m.of(tensor)
        if kind == "cotangent":
            moved = gauge.times(X, gauge.over(new, old))
        else:
            moved = gauge.times(X, gauge.over(old, new).mT)
        m.write(moved, tensor)
