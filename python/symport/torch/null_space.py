# SPDX-License-Identifier: MIT
"""Scalings through operations for which there is no rule, from the gradients alone.

D_p[i] = sum of P * dS/dP over the slice i of an axis of parameter p. Charges c are a scaling
symmetry to first order if and only if the sum over p of c_p D_p[i] is zero for every index i,
input and output weight: the null space of the matrix with a column for each axis of one length
and a row for each index and sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import torch
from torch import Tensor

from .charges import Charges
from .proof import Sample
from .proposals import Proposal
from .slots import Slot
from .solve import Solution

UNKNOWN = "no rule for"
# Reasons that follow from an unknown operation elsewhere; all others forbid the axis by themselves.
_CONSEQUENCES = (UNKNOWN, "sum over", "bias that", "added to", "")
_TOLERANCE = 1e-10


def unknown_operations(charges: Charges) -> list[str]:
    reasons = [equation.reason for equation in charges.equations]
    return list(dict.fromkeys(r for r in reasons if r.startswith(UNKNOWN)))


def _candidates(charges: Charges, solution: Solution) -> dict[int, list[tuple[str, int]]]:
    """Whole axes on which nothing is known to forbid a scaling, by their length."""
    axes: dict[tuple[str, int], list[int]] = {}
    for number, variable in enumerate(charges.variables):
        if variable.tensor is not None and not variable.shift:
            axes.setdefault((variable.tensor, variable.axis), []).append(number)
    lengths: dict[int, list[tuple[str, int]]] = {}
    for axis, numbers in axes.items():
        if any(solution.value(number) for number in numbers):
            continue
        reasons = {solution.reason(number)[0] for number in numbers}
        if all(not r or r.startswith(_CONSEQUENCES[:-1]) for r in reasons):
            lengths.setdefault(len(numbers), []).append(axis)
    return lengths


def _sparse_rows(basis: Tensor) -> Tensor:
    """Reduced row echelon form."""
    rows = basis.clone()
    done = 0
    for column in range(rows.shape[1]):
        if done == rows.shape[0]:
            break
        pivot = done + int(rows[done:, column].abs().argmax())
        if float(rows[pivot, column].abs()) < 1e-8:
            continue
        rows[[done, pivot]] = rows[[pivot, done]]
        rows[done] = rows[done] / rows[done, column]
        for other in range(rows.shape[0]):
            if other != done:
                rows[other] = rows[other] - rows[other, column] * rows[done]
        done += 1
    return rows[:done]


def null_space_proposals(
    charges: Charges, solution: Solution, samples: Sequence[Sample]
) -> list[Proposal]:
    """Empty unless the pass holds an operation without a rule."""
    unknown = unknown_operations(charges)
    if not unknown:
        return []
    proposals = []
    for length, axes in _candidates(charges, solution).items():
        slots = [Slot(tensor, axis, 0, length, 1, 1) for tensor, axis in axes]
        columns = torch.stack(
            [torch.cat([sample.diagonal(slot) for sample in samples]) for slot in slots], 1
        )
        norms = columns.norm(dim=0)
        alive = norms > 1e-12 * norms.max()
        slots = [slot for slot, keep in zip(slots, alive.tolist(), strict=True) if keep]
        if length < 2 or len(slots) < 2 or columns.shape[0] < 1.5 * len(slots):
            continue
        scaled = columns[:, alive] / norms[alive]
        _, singular, vectors = torch.linalg.svd(scaled, full_matrices=True)
        rank = int((singular > _TOLERANCE * singular[0]).sum())
        if rank == len(slots):
            continue
        for row in _sparse_rows(vectors[rank:] / norms[alive]):
            row = row / row.abs().max()
            smallest = float(row.abs()[row.abs() > 1e-6].min())
            charges_of_row = [Fraction(float(c) / smallest).limit_denominator(4) for c in row]
            chosen = tuple(
                Slot(s.tensor, s.axis, s.start, s.stop, s.repeat, _number(c))
                for s, c in zip(slots, charges_of_row, strict=True)
                if c
            )
            proposals.append(Proposal(length, chosen, "found from gradients, " + unknown[0]))
    return proposals


def _number(fraction: Fraction) -> float:
    return fraction.numerator if fraction.denominator == 1 else float(fraction)
