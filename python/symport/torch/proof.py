# SPDX-License-Identifier: MIT
"""Proof of proposed groups on randomised copies in double precision.

Noether: the output S, weighted by random numbers, is unchanged to first order by the Lie algebra
of the group if and only if, with C_s = G P^T along the slot's axis (G = dS/dP),

    sum over rho = g of C_s  -  sum over rho = g^-T of C_s^T  = 0

for gl; its antisymmetric part for orthogonal groups; for scalings with charges c the sum of c_s
diag(C_s) is zero. Then a finite random element must leave the output unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from .probe import Probe
from .proposals import Proposal
from .slots import Slot
from .symmetries import Group, Symmetries

NOETHER_TOLERANCE = 1e-9
FINITE_TOLERANCE = 1e-10


class Sample:
    """Parameters and gradients of one randomised copy."""

    def __init__(self, values: Mapping[str, Tensor], gradients: Mapping[str, Tensor]) -> None:
        self.values = values
        self.gradients = gradients

    def _parts(self, slot: Slot) -> tuple[Tensor, Tensor]:
        """The range of P + shift and that of G."""
        length = slot.stop - slot.start
        p = self.values[slot.tensor].detach().narrow(slot.axis, slot.start, length)
        g = self.gradients[slot.tensor].narrow(slot.axis, slot.start, length)
        return (p + slot.shift if slot.shift else p), g

    def _along(self, slot: Slot) -> list[Tensor]:
        """P + shift and G with the slot's axis first: (size, repeat * everything else)."""
        return [t.movedim(slot.axis, 0).reshape(slot.size, -1) for t in self._parts(slot)]

    def scale_residual(self, slots: Sequence[Slot]) -> tuple[float, float]:
        """Largest relative residual over the indices, and the size of the terms."""

        def by_index(product: Tensor, slot: Slot) -> Tensor:
            if product.ndim > 1:
                product = product.sum([d for d in range(product.ndim) if d != slot.axis])
            return product.reshape(slot.size, slot.repeat).sum(1).cpu()

        total, size = torch.zeros(()), torch.zeros(())
        for slot in slots:
            p, g = self._parts(slot)
            product = p * g
            total = total + slot.rho * by_index(product, slot)
            size = size + abs(slot.rho) * by_index(product.abs_(), slot)
        largest = float(size.max())
        if largest == 0.0:
            return 0.0, 0.0
        return float((total.abs() / size.clamp_min(1e-3 * largest)).max()), largest

    def matrix_residual(self, slots: Sequence[Slot], antisymmetric: bool) -> Tensor:
        """|M| relative to its bound, entry by entry."""
        total, bound = torch.zeros(()), torch.zeros(())
        for slot in slots:
            p, g = self._along(slot)
            c = (g @ p.T).cpu()
            b = torch.outer(g.norm(dim=1), p.norm(dim=1)).cpu()
            if antisymmetric or slot.rho > 0:
                total, bound = total + c, bound + b
            else:
                total, bound = total - c.T, bound + b.T
        if antisymmetric:
            total, bound = total - total.T, bound + bound.T
        return total.abs() / bound.clamp_min(1e-6 * float(bound.max()) + 1e-300)


def blocks(residual: Tensor) -> list[tuple[int, int]]:
    """Ranges of indices that may be mixed freely: all entries within a range vanish."""
    good = residual <= NOETHER_TOLERANCE
    good = good & good.T
    found = []
    start = 0
    while start < good.shape[0]:
        stop = start + 1
        while stop < good.shape[0] and bool(good[start:stop, stop].all()):
            stop += 1
        found.append((start, stop))
        start = stop
    return found


def part_of(slots: Sequence[Slot], start: int, stop: int, kind: str) -> tuple[Slot, ...]:
    """The slots of the indices [start, stop) of a proposal."""
    names = {1: "g", -1: "g^-T"}
    return tuple(
        Slot(
            slot.tensor,
            slot.axis,
            slot.start + start * slot.repeat,
            slot.start + stop * slot.repeat,
            slot.repeat,
            slot.rho if kind == "scale" else ("g" if kind == "orthogonal" else names[slot.rho]),
            slot.shift,
        )
        for slot in slots
    )


def moves_nothing(proposal: Proposal, values: Mapping[str, Tensor]) -> bool:
    """Whether the scales of a one-parameter group cancel on every tensor."""
    if proposal.size > 1:
        return False
    exponents: dict[str, Tensor] = {}
    for slot in proposal.slots:
        total = exponents.setdefault(slot.tensor, torch.zeros(values[slot.tensor].shape))
        total.narrow(slot.axis, slot.start, slot.stop - slot.start).add_(float(slot.rho))
    return all(not bool(total.any()) for total in exponents.values())


def _relative_change(before: list[Tensor], after: list[Tensor]) -> float:
    worst = 0.0
    for a, b in zip(before, after, strict=True):
        if a.numel() == 0:
            continue
        finite = torch.isfinite(a)
        if not bool((finite == torch.isfinite(b)).all()):
            return float("inf")
        if not bool(finite.any()):
            continue
        size = float(a[finite].abs().max())
        change = float((a[finite] - b[finite]).abs().max())
        worst = max(worst, change / size if size else change)
    return worst


def finite_change(probe: Probe, groups: Sequence[Group], seed: int) -> float:
    """Largest relative change of the outputs by a random element of all groups at once, at the
    probe's present parameters, which are restored."""
    symmetries = Symmetries(probe.model, groups)
    generator = torch.Generator().manual_seed(seed)
    element = [
        group.random_element(generator, 0.5 if group.kind == "scale" else 0.5 / group.size**0.5)
        for group in groups
    ]
    before = probe.run()
    with probe.keeping({slot.tensor for group in groups for slot in group.slots}):
        symmetries.transport(element, symmetries.tensors(), "point")
        return _relative_change(before, probe.run())


def failing(probe: Probe, groups: Sequence[Group], seed: int) -> tuple[dict[int, float], float]:
    """Numbers of the groups whose finite elements change the output, and the largest change by the
    others; halves are tested together."""
    change = finite_change(probe, groups, seed) if groups else 0.0
    if change <= FINITE_TOLERANCE:
        return {}, change
    if len(groups) == 1:
        return {0: change}, 0.0
    half = len(groups) // 2
    left, left_change = failing(probe, groups[:half], seed)
    right, right_change = failing(probe, groups[half:], seed)
    bad = left | {number + half: change for number, change in right.items()}
    return bad, max(left_change, right_change)
