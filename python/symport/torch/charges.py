# SPDX-License-Identifier: MIT
"""How every tensor of a forward pass responds to scalings of the parameters.

An unknown number x_v (the logarithm of a scale) stands for each index of each parameter axis. A
tensor is described by *terms*: its entry is multiplied by exp of the sum of its terms, each term
being an integer tensor of the same shape whose entries are numbers of linear forms in the x_v,
with stride 0 along the axes on which it does not depend. An operation that must not be scaled, or
whose operands must be scaled alike, gives linear equations; their solutions are the scaling
symmetries. Modulo 2 the same equations describe changes of sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import torch
from torch import Tensor

Number = int | Fraction
Form = tuple[tuple[int, Number], ...]
Terms = list[Tensor]

#: How the reason of an equation begins for an operation that no rule describes.
NO_RULE = "no rule for"


class Variable(NamedTuple):
    """An index of an axis of a parameter or buffer; tensor is None for an auxiliary unknown.
    shared: another axis of the same tensor has unknowns too."""

    tensor: str | None
    axis: int
    index: int
    shared: bool
    shift: float


class Equation(NamedTuple):
    form: Form
    reason: str
    where: str


def support(term: Tensor) -> frozenset[int]:
    return frozenset(d for d in range(term.ndim) if term.shape[d] > 1 and term.stride(d) != 0)


def compress(term: Tensor) -> Tensor:
    """Stride 0 along every axis on which the term does not depend."""
    for d in range(term.ndim):
        if term.shape[d] > 1 and term.stride(d) != 0:
            first = term.narrow(d, 0, 1)
            if bool((term == first).all()):
                term = first.expand(term.shape)
    return term


def core(term: Tensor, keep: Iterable[int]) -> Tensor:
    """The term with length 1 along every axis outside of keep."""
    for d in range(term.ndim):
        if d not in keep and term.shape[d] > 1:
            term = term.narrow(d, 0, 1)
    return term


class Charges:
    """The unknowns, the forms that occur and the equations found so far."""

    def __init__(self, modulus: int = 0) -> None:
        self.modulus = modulus
        self.variables: list[Variable] = []
        self.forms: list[Form] = [()]
        self._numbers: dict[Form, int] = {(): 0}
        self.equations: list[Equation] = []
        self._seen: set[Form] = set()
        self.nonlinear: dict[int, str] = {}
        self.where = ""

    # Forms --------------------------------------------------------------------------------------

    def variable(
        self, tensor: str | None, axis: int, index: int, shared: bool = False, shift: float = 0.0
    ) -> int:
        """The number of the form x_v for a new unknown v."""
        self.variables.append(Variable(tensor, axis, index, shared, shift))
        return self.intern(((len(self.variables) - 1, 1),))

    def intern(self, form: Form) -> int:
        number = self._numbers.get(form)
        if number is None:
            number = self._numbers[form] = len(self.forms)
            self.forms.append(form)
        return number

    def _sum(self, parts: Iterable[tuple[int, Number]]) -> int:
        total: dict[int, Number] = {}
        for number, factor in parts:
            for variable, coefficient in self.forms[number]:
                total[variable] = total.get(variable, 0) + factor * coefficient
        if self.modulus:
            total = {v: c % self.modulus for v, c in total.items()}
        return self.intern(tuple(sorted((v, c) for v, c in total.items() if c)))

    def combine(self, parts: Sequence[tuple[Tensor, Number]]) -> Tensor:
        """Sum of factor times term, for terms that can be broadcast to one shape."""
        if len(parts) == 1 and parts[0][1] == 1:
            return parts[0][0]
        arrays = torch.broadcast_tensors(*[term for term, _ in parts])
        factors = [factor for _, factor in parts]
        stacked = torch.stack([array.reshape(-1) for array in arrays])
        if len(parts) == 1:
            unique, inverse = torch.unique(stacked[0], return_inverse=True)
            unique = unique[None]
        else:
            unique, inverse = torch.unique(stacked, dim=1, return_inverse=True)
        sums = [self._sum(zip(column, factors, strict=True)) for column in unique.T.tolist()]
        return torch.tensor(sums, dtype=torch.int64)[inverse].reshape(arrays[0].shape)

    def scaled(self, terms: Terms, factor: Number) -> Terms:
        """factor times the sum of the terms."""
        if factor == 1:
            return terms
        result = []
        for term in terms:
            keep = support(term)
            result.append(self.combine([(core(term, keep), factor)]).expand(term.shape))
        return self.simplified(result)

    def simplified(self, terms: Terms) -> Terms:
        """Terms merged where one depends only on axes of another; zero terms dropped."""
        result: Terms = []
        for term in sorted(terms, key=lambda t: -len(support(t))):
            mine = support(term)
            for position, other in enumerate(result):
                if mine <= support(other):
                    keep = support(other)
                    joint = self.combine([(core(other, keep), 1), (core(term, keep), 1)])
                    result[position] = joint.expand(term.shape)
                    break
            else:
                result.append(term)
        return [term for term in result if bool(core(term, support(term)).any())]

    # Equations ----------------------------------------------------------------------------------

    def _equate(self, form: Form, reason: str) -> None:
        if form and form not in self._seen:
            self._seen.add(form)
            self.equations.append(Equation(form, reason, self.where))

    def _components(self, terms: Terms, axes: frozenset[int] | None) -> list[Terms]:
        """Terms that share an axis (one of `axes`), together."""
        components: list[tuple[set[int], Terms]] = []
        for term in terms:
            mine = set(support(term) if axes is None else support(term) & axes)
            together: Terms = [term]
            rest = []
            for shared, members in components:
                if shared & mine:
                    mine |= shared
                    together = members + together
                else:
                    rest.append((shared, members))
            components = [*rest, (mine, together)]
        return [members for _, members in components]

    def _joint(self, terms: Terms) -> Tensor:
        keep = frozenset().union(*[support(term) for term in terms])
        return self.combine([(core(term, keep), 1) for term in terms])

    def _is_parameter_axis(self, term: Tensor) -> bool:
        """Whether the term is an axis of a parameter, as it came, with unknowns on another axis
        too: a constant may then be moved from this axis to the other one."""
        form = self.forms[int(core(term, ()).reshape(-1)[0])]
        return len(form) == 1 and self.variables[form[0][0]].shared

    def constant(
        self, terms: Terms, axes: Iterable[int], reason: str, product: bool = False
    ) -> Terms:
        """Requires that the scale does not depend on the axes; returns the terms without them.
        product: the terms are those of factors that are contracted over the axes."""
        wanted = frozenset(axes)
        free = [term for term in terms if not support(term) & wanted]
        bound = [term for term in terms if support(term) & wanted]
        for members in self._components(bound, wanted):
            joint = self._joint(members)
            if product and any(self._is_parameter_axis(term) for term in members):
                for number in joint.unique().tolist():
                    self._equate(self.forms[number], reason)
                continue
            shape = members[0].shape
            first = core(joint, support(joint.expand(shape)) - wanted)
            if bool((joint == first).all()):
                free.append(first.expand(shape))
                continue
            # An auxiliary unknown for a sum keeps the equations short.
            names = {number: self.intern_name(number, reason) for number in first.unique().tolist()}
            first = first.clone().apply_(lambda number, names=names: names[number])
            pairs = torch.stack([joint.reshape(-1), first.expand(joint.shape).reshape(-1)])
            for left, right in torch.unique(pairs, dim=1).T.tolist():
                if left != right:
                    self._equate(self.forms[self._sum([(left, 1), (right, -1)])], reason)
            free.append(first.expand(shape))
        return self.simplified(free)

    def intern_name(self, number: int, reason: str) -> int:
        """The form itself if it is short, otherwise an auxiliary unknown equal to it."""
        if len(self.forms[number]) <= 1:
            return number
        name = self.variable(None, 0, 0)
        self._equate(self.forms[self._sum([(number, 1), (name, -1)])], reason)
        return name

    def short(self, terms: Terms) -> Terms:
        """The same terms with an auxiliary unknown for every sum."""
        result = []
        for term in terms:
            entries = core(term, support(term))
            numbers = entries.unique().tolist()
            if any(len(self.forms[number]) > 1 for number in numbers):
                names = {number: self.intern_name(number, "") for number in numbers}
                entries = entries.clone().apply_(lambda number, names=names: names[number])
                term = entries.expand(term.shape)
            result.append(term)
        return result

    def zero(self, terms: Terms, reason: str) -> None:
        """Requires that the tensor is not scaled."""
        if not terms:
            return
        if len(terms) > 1 and all(self._is_parameter_axis(term) for term in terms):
            # Axes of one parameter: a constant between them moves nothing.
            for term in terms:
                self.zero([term], reason)
            return
        rest = []
        components = self._components(terms, None)
        for members in components:
            joint = self._joint(members)
            if len(components) > 1:
                wanted = support(joint.expand(members[0].shape))
                rest += self.constant([joint.expand(members[0].shape)], wanted, reason)
            else:
                for number in joint.unique().tolist():
                    self._equate(self.forms[number], reason)
        if rest:
            for number in self._joint(rest).unique().tolist():
                self._equate(self.forms[number], reason)

    def equal(self, left: Terms, right: Terms, reason: str) -> None:
        """Requires that both tensors are scaled alike."""
        if len(left) == 1 and len(right) == 1 and left[0].shape == right[0].shape:
            keep = support(left[0]) | support(right[0])
            if torch.equal(*torch.broadcast_tensors(core(left[0], keep), core(right[0], keep))):
                return
        self.zero(self.simplified([*left, *self.scaled(right, -1)]), reason)

    def unknown(self) -> dict[str, str]:
        """The tensors whose scale meets an operation without a rule, each with the reason."""
        found: dict[str, str] = {}
        for equation in self.equations:
            if not equation.reason.startswith(NO_RULE):
                continue
            pending, seen = [v for v, _ in equation.form], set()
            while pending:
                v = pending.pop()
                tensor = self.variables[v].tensor
                if tensor is not None:
                    found.setdefault(tensor, equation.reason)
                elif v not in seen:  # an auxiliary unknown stands for a sum of others
                    seen.add(v)
                    forms = [e.form for e in self.equations if any(u == v for u, _ in e.form)]
                    pending += [u for form in forms for u, _ in form if u not in seen]
        return found

    def mark_nonlinear(self, terms: Terms, reason: str) -> None:
        """Remembers that the entries pass an operation that does not commute with mixing them."""
        for term in terms:
            for number in core(term, support(term)).unique().tolist():
                for variable, _ in self.forms[number]:
                    self.nonlinear.setdefault(variable, reason)
