# SPDX-License-Identifier: MIT
"""Rules for operations on single entries: sums, products, activations, masks."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from torch import Tensor

from ..charges import Number, Terms, compress, support
from ..recorder import Operation
from .base import Context, argument, broadcast, rule, shape_of, veto


def _constant_along(context: Context, terms: Terms, other: Any, ndim: int) -> bool:
    """Whether the other operand is the same for all indices that the terms tell apart."""
    if not isinstance(other, Tensor):
        return True
    axes = frozenset().union(*[support(term) for term in terms])
    offset = ndim - other.ndim
    return all(
        d < offset or other.shape[d - offset] == 1 or other.stride(d - offset) == 0 for d in axes
    )


@rule("add", "sub", "rsub", "add_", "sub_", "complex", "lerp", "maximum", "minimum")
def add(context: Context, op: Operation) -> list[Terms]:
    left, right = op.args[0], op.args[1]
    if not isinstance(right, Tensor):
        terms = context.terms(left)
        if right != 0:
            context.charges.zero(terms, "addition of a constant")
            return [[]]
        return [terms]
    a, b = (broadcast(context.terms(x), shape_of(op)) for x in (left, right))
    if op.name in ("maximum", "minimum", "max", "min", "lerp"):
        context.charges.mark_nonlinear([*a, *b], op.name)
        if op.name == "lerp" or context.signs:
            context.charges.zero(context.charges.simplified([*a]), op.name)
            context.charges.zero(context.charges.simplified([*b]), op.name)
            return [[]]
    context.charges.equal(a, b, "added to a tensor that does not scale with it")
    return [a]


@rule("mul", "mul_", "div", "div_")
def _multiply(context: Context, op: Operation) -> list[Terms]:
    left, right = op.args[0], op.args[1]
    if argument(op, 2, "rounding_mode") is not None:
        return veto(context, op)
    charges, ndim = context.charges, len(shape_of(op))
    a = broadcast(context.terms(left), shape_of(op))
    b = broadcast(context.terms(right), shape_of(op))
    square = isinstance(right, Tensor) and left is right
    if not (square and context.signs):
        if not _constant_along(context, a, right, ndim):
            charges.mark_nonlinear(a, "product entry by entry")
        if not _constant_along(context, b, left, ndim):
            charges.mark_nonlinear(b, "product entry by entry")
    if op.name.startswith("div"):
        b = charges.scaled(b, -1)
    return [charges.short(charges.simplified([*a, *b]))]


HOMOGENEOUS: dict[str, Number] = {
    "relu": 1,
    "leaky_relu": 1,
    "rrelu_with_noise": 1,
    "abs": 1,
    "sqrt": Fraction(1, 2),
    "rsqrt": Fraction(-1, 2),
    "reciprocal": -1,
    "square": 2,
    "sgn": 0,
    "sign": 0,
}
EVEN = {"abs", "square", "cos", "cosh"}
ODD = {"tanh", "sin", "erf", "atan", "asinh", "sinh", "tan", "reciprocal", "sgn", "sign"}


@rule(*HOMOGENEOUS, *(name + "_" for name in HOMOGENEOUS))
def _homogeneous(context: Context, op: Operation) -> list[Terms]:
    name = op.name.removesuffix("_")
    terms = context.terms(op.args[0])
    if context.signs:
        return _parity(context, op)
    context.charges.mark_nonlinear(terms, name)
    return [context.charges.scaled(terms, HOMOGENEOUS[name])]


@rule("tanh", "sin", "erf", "atan", "asinh", "sinh", "tan", "cos", "cosh", "tanh_", "sin_", "cos_")
def _parity(context: Context, op: Operation) -> list[Terms]:
    name = op.name.removesuffix("_")
    terms = context.terms(op.args[0])
    if not context.signs:
        return veto(context, op)
    if name in EVEN:
        return [[]]
    context.charges.mark_nonlinear(terms, name)
    if name in ODD:
        return [terms]
    return veto(context, op)


@rule("neg", "neg_", "conj", "_conj", "conj_physical", "real")
def _linear_unary(context: Context, op: Operation) -> list[Terms]:
    return [context.terms(op.args[0])]


@rule("pow", "pow_")
def _power(context: Context, op: Operation) -> list[Terms]:
    terms, exponent = context.terms(op.args[0]), op.args[1]
    if isinstance(exponent, Tensor) or not isinstance(op.args[0], Tensor):
        return veto(context, op)
    power = Fraction(exponent).limit_denominator(64)
    if context.signs:
        if power.denominator != 1:
            return veto(context, op)
        if power % 2 == 0:
            return [[]]
    context.charges.mark_nonlinear(terms, "power")
    value: Number = power.numerator if power.denominator == 1 else power
    return [context.charges.scaled(terms, value)]


@rule(
    "clamp", "clamp_", "clamp_min", "clamp_min_", "hardtanh", "hardtanh_", "threshold", "threshold_"
)
def _clamp(context: Context, op: Operation) -> list[Terms]:
    bounds = list(op.args[1:]) + list(op.kwargs.values())
    relu = {
        "clamp": bounds in ([0], [0, None]),
        "clamp_min": bounds == [0],
        "threshold": bounds == [0, 0],
    }.get(op.name.removesuffix("_"), False)
    if not relu or context.signs:
        return veto(context, op)
    context.charges.mark_nonlinear(context.terms(op.args[0]), "relu")
    return [context.terms(op.args[0])]


@rule("_prelu_kernel")
def _prelu(context: Context, op: Operation) -> list[Terms]:
    context.charges.zero(context.terms(op.args[1]), "slope of prelu")
    if context.signs:
        return veto(context, op)
    context.charges.mark_nonlinear(context.terms(op.args[0]), "prelu")
    return [context.terms(op.args[0])]


@rule("native_dropout", "dropout", "feature_dropout")
def _dropout(context: Context, op: Operation) -> list[Terms]:
    terms = context.terms(op.args[0])
    context.charges.mark_nonlinear(terms, "dropout")
    return [terms] + [[] for _ in op.outputs[1:]]


@rule("glu")
def _glu(context: Context, op: Operation) -> list[Terms]:
    dim = argument(op, 1, "dim", -1)
    values, gates = [], []
    for term in context.terms(op.args[0]):
        value, gate = term.chunk(2, dim)
        values.append(compress(value))
        gates.append(compress(gate))
    context.charges.zero(context.charges.simplified(gates), "gate of glu")
    values = context.charges.simplified(values)
    context.charges.mark_nonlinear(values, "product entry by entry")
    return [values]


@rule("masked_fill", "masked_fill_")
def _masked_fill(context: Context, op: Operation) -> list[Terms]:
    terms, value = context.terms(op.args[0]), op.args[2]
    terms = broadcast(terms, shape_of(op))
    number = value.item() if isinstance(value, Tensor) and value.numel() == 1 else value
    harmless = number == 0 or (
        not context.signs and isinstance(number, float) and math.isinf(number)
    )
    if not harmless:
        context.charges.zero(terms, "constant put in by a mask")
        return [[]]
    context.charges.mark_nonlinear(terms, "mask")
    return [terms]


@rule("where")
def _where(context: Context, op: Operation) -> list[Terms]:
    if len(op.args) < 3:
        return veto(context, op)
    context.charges.zero(context.terms(op.args[0]), "condition")
    a, b = (broadcast(context.terms(x), shape_of(op)) for x in op.args[1:3])
    for terms, other in ((a, op.args[2]), (b, op.args[1])):
        if isinstance(other, Tensor) and other.numel() == 1 and other.item() == 0:
            context.charges.mark_nonlinear(terms, "mask")
            return [terms]
    context.charges.mark_nonlinear([*a, *b], "mask")
    context.charges.equal(a, b, "choice between tensors that do not scale alike")
    return [a]


@rule("tril", "triu")
def _triangle(context: Context, op: Operation) -> list[Terms]:
    terms = context.terms(op.args[0])
    context.charges.mark_nonlinear(terms, "mask")
    return [terms]


@rule("gt", "lt", "ge", "le", "eq", "ne")
def _compare(context: Context, op: Operation) -> list[Terms]:
    if context.signs or isinstance(op.args[1], Tensor) or op.args[1] != 0:
        return veto(context, op)
    context.charges.mark_nonlinear(context.terms(op.args[0]), "comparison")
    return [[]]
