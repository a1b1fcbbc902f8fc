# SPDX-License-Identifier: MIT
"""Groups with slots from the solutions of the scale equations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from .charges import Charges, Number
from .slots import Slot
from .solve import Solution


@dataclass(frozen=True)
class Proposal:
    """Slots with charges; mixing: why the indices cannot be mixed by a matrix, empty if nothing is
    known against it."""

    size: int
    slots: tuple[Slot, ...]
    mixing: str = ""


Run = tuple[str, int, Number, int, int, float]
"""tensor, axis, charge, first index, length, shift"""


def _normalised(charges: list[Number], first: int) -> Number:
    """The factor that makes the charges small integers, the one numbered first positive."""
    fractions = [Fraction(c) for c in charges]
    denominator = math.lcm(*[f.denominator for f in fractions])
    numerator = math.gcd(*[int(f * denominator) for f in fractions])
    factor = Fraction(denominator, numerator)
    return factor if fractions[first] > 0 else -factor


def _runs(entries: list[tuple[str, int, int, Number, float]]) -> list[Run]:
    """Consecutive indices of one axis with one charge."""
    runs: list[Run] = []
    for tensor, axis, index, charge, shift in entries:
        if runs:
            last = runs[-1]
            if last[:3] == (tensor, axis, charge) and last[3] + last[4] == index:
                runs[-1] = (*last[:4], last[4] + 1, shift)
                continue
        runs.append((tensor, axis, charge, index, 1, shift))
    return runs


def propose(charges: Charges, solution: Solution) -> list[Proposal]:
    """One proposal for each family of free unknowns whose slots follow one another."""
    entries: dict[int, list[tuple[str, int, int, Number, float]]] = {}
    nonlinear: dict[int, str] = {}
    for number, variable in enumerate(charges.variables):
        value = solution.value(number)
        for free, coefficient in value.items():
            if number in charges.nonlinear:
                nonlinear.setdefault(free, charges.nonlinear[number])
            if variable.tensor is not None:
                entries.setdefault(free, []).append(
                    (variable.tensor, variable.axis, variable.index, coefficient, variable.shift)
                )

    proposals: list[Proposal] = []
    open_families: dict[tuple[object, ...], list[list[Run]]] = {}
    order: list[list[list[Run]]] = []
    reasons: dict[int, str] = {}
    for free, places in entries.items():
        # The first output axis scales up: groups read from producers to consumers.
        first = next((n for n, place in enumerate(places) if place[1] == 0), 0)
        factor = _normalised([place[3] for place in places], first)
        if charges.modulus:
            factor = 1
        places = [(t, a, i, _integer(c * factor), s) for t, a, i, c, s in places]
        runs = _runs(places)
        why = nonlinear.get(free, "")
        signature = (why, *[(t, a, c, length, s) for t, a, c, _, length, s in runs])
        family = open_families.get(signature)
        if family is not None and all(
            run[3] == last[3] + last[4] for run, last in zip(runs, family[-1], strict=True)
        ):
            family.append(runs)
        else:
            family = [runs]
            open_families[signature] = family
            order.append(family)
            reasons[id(family)] = why
    for family in order:
        slots = tuple(
            Slot(tensor, axis, start, start + length * len(family), length, charge, shift)
            for tensor, axis, charge, start, length, shift in family[0]
        )
        proposals.append(Proposal(len(family), slots, reasons[id(family)]))
    return proposals


def _integer(number: Number) -> Number:
    fraction = Fraction(number)
    return fraction.numerator if fraction.denominator == 1 else float(fraction)
