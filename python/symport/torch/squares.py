# SPDX-License-Identifier: MIT
"""Sums of squares of tensors, and of their slices while scalings act on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from .slots import Slot
from .symmetries import Group


def squares_of(tensors: Mapping[str, Tensor]) -> float:
    """The sum of squares of all entries; infinity or NaN if an entry is."""
    norms = [float(torch.linalg.vector_norm(t.detach())) for t in tensors.values()]
    total = math.fsum(n * n for n in norms) if all(map(math.isfinite, norms)) else math.inf
    if 1e-30 < total < math.inf:
        return total
    # Squares beyond the range of the type.
    wide = [torch.linalg.vector_norm(t.detach(), dtype=torch.float64) for t in tensors.values()]
    return float(sum(float(n) * float(n) for n in wide))  # `**` would raise on overflow


class SquareTables:
    """Squared row norms of tensors on which only scalings act, without moving the tensors.

    A tensor of which one or two axes are scaled is kept as the matrix Q of its squares, summed over
    the other axes, with a factor for every index of an axis: the norms of axis 0 are f_0 o Q f_1.
    """

    def __init__(self, groups: Sequence[Group], tensors: Mapping[str, Tensor]) -> None:
        self._axes: dict[str, list[int]] = {}
        dense = {s.tensor for g in groups if g.kind != "scale" for s in g.slots}
        for group in groups:
            for slot in group.slots:
                if slot.tensor in tensors and slot.tensor not in dense:
                    axes = self._axes.setdefault(slot.tensor, [])
                    if slot.axis not in axes:
                        axes.append(slot.axis)
        self._axes = {n: axes for n, axes in self._axes.items() if len(axes) <= 2}
        self._squares: dict[str, Tensor] = {}
        self._factors: dict[str, list[Tensor]] = {}
        for name, axes in self._axes.items():
            t = tensors[name].detach()
            if len(axes) == 2:
                q = t.to(torch.float64, copy=True).square_().movedim(axes, [0, 1])
                q = q if q.dim() == 2 else q.flatten(2).sum(-1)
            elif t.dim() == 1:
                q = t.to(torch.float64).square()
            else:  # row norms without a copy of the tensor
                others = [a for a in range(t.dim()) if a != axes[0]]
                q = torch.linalg.vector_norm(t, dim=others, dtype=torch.float64).square()
            self._squares[name] = q.cpu()
            self._factors[name] = [torch.ones(n, dtype=torch.float64) for n in q.shape]

    def __contains__(self, name: str) -> bool:
        return name in self._squares

    def norms(self, slot: Slot) -> Tensor:
        """Squared norms of the rows of a slot."""
        q, f = self._squares[slot.tensor], self._factors[slot.tensor]
        k = self._axes[slot.tensor].index(slot.axis)
        if len(f) == 2:
            q = q @ f[1] if k == 0 else f[0] @ q
        n = (q * f[k])[slot.start : slot.stop]
        return n.reshape(slot.size, slot.repeat).sum(1)

    def scale(self, slot: Slot, factors: Tensor) -> None:
        """Multiply the squares of the rows of a slot."""
        k = self._axes[slot.tensor].index(slot.axis)
        part = self._factors[slot.tensor][k][slot.start : slot.stop]
        part *= factors.repeat_interleave(slot.repeat)

    def total(self) -> float:
        total = 0.0
        for name, f in self._factors.items():
            q = self._squares[name]
            total += float(f[0] @ (q @ f[1] if len(f) == 2 else q))
        return total
