# SPDX-License-Identifier: MIT
"""Solves the equations of charges.py by substitution, shortest equations first, so that the
solutions stay sparse: each free unknown moves as few parameters as possible."""

from __future__ import annotations

from fractions import Fraction

from .charges import Charges, Number


class Solution:
    """Every unknown as a linear form in the free ones.

    value[v]: {free unknown: coefficient}; empty if the unknown must be zero.
    reason[v]: (reason, where) of the equation that made the unknown zero.
    """

    def __init__(self, charges: Charges) -> None:
        self._modulus = charges.modulus
        count = len(charges.variables)
        self._value: list[dict[int, Number] | None] = [None] * count
        self._reason: dict[int, tuple[str, str]] = {}
        self._members = [1 if v.tensor is not None else 0 for v in charges.variables]
        self._solve(charges)

    def value(self, variable: int) -> dict[int, Number]:
        """With substitutions carried out to the end."""
        form = self._value[variable]
        if form is None:
            return {variable: 1}
        stack = [variable]
        while stack:
            current = stack[-1]
            form = self._value[current] or {}
            bound = [v for v in form if self._value[v] is not None]
            deeper = [v for v in bound if not self._is_final(v)]
            if deeper:
                stack += deeper
                continue
            stack.pop()
            if bound:
                total: dict[int, Number] = {}
                for v, c in form.items():
                    inner = self._value[v]
                    for w, d in ({v: 1} if inner is None else inner).items():
                        total[w] = total.get(w, 0) + c * d
                total = self._reduced(total)
                if not total and current not in self._reason:
                    self._reason[current] = self._inherited(current)
                self._value[current] = total
        return self._value[variable] or {}

    def _is_final(self, variable: int) -> bool:
        return all(self._value[v] is None for v in self._value[variable] or {})

    def reason(self, variable: int) -> tuple[str, str]:
        return self._reason.get(variable, ("", ""))

    def _inherited(self, variable: int) -> tuple[str, str]:
        form = self._value[variable] or {}
        for v in form:
            if v in self._reason:
                return self._reason[v]
        return ("", "")

    def _reduced(self, form: dict[int, Number]) -> dict[int, Number]:
        if self._modulus:
            form = {v: c % self._modulus for v, c in form.items()}
        return {v: c for v, c in form.items() if c}

    def _current(self, form: dict[int, Number]) -> dict[int, Number]:
        total: dict[int, Number] = {}
        for v, c in form.items():
            for w, d in self.value(v).items():
                total[w] = total.get(w, 0) + c * d
        return self._reduced(total)

    def _eliminate(self, form: dict[int, Number], pivot: int, why: tuple[str, str]) -> None:
        coefficient = form[pivot]
        rest = {v: _divided(-c, coefficient) for v, c in form.items() if v != pivot}
        self._value[pivot] = self._reduced(rest)
        if not rest:
            self._reason[pivot] = why
        if len(rest) == 1:
            (other,) = rest
            self._members[other] += self._members[pivot]

    def _solve(self, charges: Charges) -> None:
        shift = [v.shift for v in charges.variables]
        pending = [(dict(e.form), (e.reason, e.where)) for e in charges.equations]
        while pending:
            # Equations with one or two unknowns until none is left, then one longer equation.
            later = []
            progress = False
            for form, why in pending:
                form = self._current(form)
                if not form:
                    continue
                if len(form) == 1:
                    self._eliminate(form, next(iter(form)), why)
                    progress = True
                elif len(form) == 2:
                    # The later unknown is replaced: groups are named after their first parameter.
                    self._eliminate(form, max(form), why)
                    progress = True
                else:
                    later.append((form, why))
            if not progress:
                later = self._one_round_of_long_equations(later, shift)
            pending = later

    def _one_round_of_long_equations(
        self, equations: list[tuple[dict[int, Number], tuple[str, str]]], shift: list[float]
    ) -> list[tuple[dict[int, Number], tuple[str, str]]]:
        """Replaces the unknown that moves the fewest tensors, in equations that share none with an
        equation used before in this round; the others may have become short."""
        touched: set[int] = set()
        later = []
        for form, why in sorted(equations, key=lambda entry: len(entry[0])):
            if touched.isdisjoint(form):
                pivot = min(form, key=lambda v: (self._members[v] or 10**9, shift[v] > 0, -v))
                self._eliminate(form, pivot, why)
            else:
                later.append((form, why))
            touched.update(form)
        return later


def _divided(numerator: Number, denominator: Number) -> Number:
    quotient = Fraction(numerator) / Fraction(denominator)
    return quotient.numerator if quotient.denominator == 1 else quotient
