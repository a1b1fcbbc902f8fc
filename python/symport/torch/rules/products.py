# SPDX-License-Identifier: MIT
"""Rules for reductions, matrix products and convolutions."""

from __future__ import annotations

import torch
from torch import Tensor

from ..charges import Terms, compress, support
from ..recorder import Operation
from .base import Context, axes_of, broadcast, rule, shape_of, veto
from .entries import add

# Reductions -------------------------------------------------------------------------------------


def _reduced(terms: Terms, axes: list[int], shape: torch.Size, ndim: int) -> Terms:
    """Terms that do not depend on the axes, with these axes removed or of length 1."""
    result = []
    for term in terms:
        for d in sorted(axes, reverse=True):
            term = term.narrow(d, 0, 1) if len(shape) == ndim else term.select(d, 0)
        result.append(term.expand(shape))
    return result


@rule("sum", "mean", "amax", "amin", "max", "min", "var", "std", "linalg_vector_norm", "nansum")
def _reduce(context: Context, op: Operation) -> list[Terms]:
    x = op.args[0]
    if op.name in ("max", "min") and len(op.args) > 1 and isinstance(op.args[1], Tensor):
        return add(context, op)
    terms, charges = context.terms(x), context.charges
    axes = axes_of(op, 2 if op.name == "linalg_vector_norm" else 1, x.ndim)
    if context.signs:
        if op.name == "linalg_vector_norm":
            return [[]]
        if op.name not in ("sum", "mean", "nansum"):
            return veto(context, op)
    if op.name not in ("sum", "mean", "nansum"):
        charges.mark_nonlinear(terms, op.name)
    terms = charges.constant(terms, axes, f"{op.name} over channels that scale differently")
    terms = _reduced(terms, axes, shape_of(op), x.ndim)
    if op.name == "var":
        terms = charges.scaled(terms, 2)
    return [terms] + [[] for _ in op.outputs[1:]]


@rule("cumsum")
def _cumsum(context: Context, op: Operation) -> list[Terms]:
    axes = axes_of(op, 1, op.args[0].ndim)
    return [context.charges.constant(context.terms(op.args[0]), axes, "cumsum")]


def _spatial(context: Context, op: Operation, terms: Terms, x: Tensor) -> Terms:
    """Terms of an image without dependence on the position, for the output's positions."""
    count = {"1": 1, "2": 2, "3": 3}[next(c for c in op.name if c in "123")]
    axes = list(range(x.ndim - count, x.ndim))
    terms = context.charges.constant(
        terms, axes, f"{op.name} over positions that scale differently"
    )
    for d in axes:
        terms = [term.narrow(d, 0, 1) for term in terms]
    return broadcast(terms, shape_of(op))


@rule(*(
    "avg_pool1d avg_pool2d avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_avg_pool1d"
    " upsample_nearest1d upsample_nearest2d upsample_bilinear2d upsample_bicubic2d"
    " _upsample_nearest_exact2d upsample_linear1d upsample_trilinear3d upsample_nearest3d"
).split())  # fmt: skip
def _pool(context: Context, op: Operation) -> list[Terms]:
    return [_spatial(context, op, context.terms(op.args[0]), op.args[0])]


@rule(
    "max_pool2d_with_indices",
    "max_pool3d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
)
def _max_pool(context: Context, op: Operation) -> list[Terms]:
    terms = context.terms(op.args[0])
    if context.signs:
        return veto(context, op)
    context.charges.mark_nonlinear(terms, "max_pool")
    return [_spatial(context, op, terms, op.args[0]), []]


# Products ---------------------------------------------------------------------------------------


def contract(context: Context, a: Terms, b: Terms, name: str) -> Terms:
    """(..., m, k) times (..., k, n); the terms of both come in these shapes."""
    if not a and not b:
        return []
    m = a[0].shape[-2] if a else 1
    n = b[0].shape[-1] if b else 1
    k = a[0].shape[-1] if a else b[0].shape[-2]
    batch = (a or b)[0].shape[:-2]
    shape = (*batch, m, k, n)
    terms = [term.unsqueeze(-1).expand(shape) for term in a]
    terms += [term.unsqueeze(-3).expand(shape) for term in b]
    axis = len(batch) + 1
    terms = context.charges.constant(terms, [axis], name, product=True)
    return [term.select(axis, 0) for term in terms]


@rule("mm", "bmm", "matmul")
def _mm(context: Context, op: Operation) -> list[Terms]:
    a, b = context.terms(op.args[0]), context.terms(op.args[1])
    product = contract(context, a, b, "sum over channels that scale differently")
    return [context.charges.short(broadcast(product, shape_of(op)))]


@rule("addmm", "baddbmm")
def _addmm(context: Context, op: Operation) -> list[Terms]:
    a, b = context.terms(op.args[1]), context.terms(op.args[2])
    product = contract(context, a, b, "sum over channels that scale differently")
    product = context.charges.short(broadcast(product, shape_of(op)))
    if op.kwargs.get("beta", 1) != 0:
        bias = broadcast(context.terms(op.args[0]), shape_of(op))
        context.charges.equal(bias, product, "bias that does not scale with its layer")
    return [product]


@rule("mv", "dot")
def _mv(context: Context, op: Operation) -> list[Terms]:
    a = context.terms(op.args[0])
    a = [term.unsqueeze(0) for term in a] if op.name == "dot" else a
    b = [term.unsqueeze(-1) for term in context.terms(op.args[1])]
    product = contract(context, a, b, "sum over channels that scale differently")
    product = [term.select(-1, 0) for term in product]
    if op.name == "dot":
        product = [term.select(-1, 0) for term in product]
    return [context.charges.short(broadcast(product, shape_of(op)))]


@rule("convolution")
def _convolution(context: Context, op: Operation) -> list[Terms]:
    x, weight, bias = op.args[0], op.args[1], op.args[2]
    transposed, groups = op.args[6], op.args[8]
    charges, out = context.charges, shape_of(op)
    reason = "convolution over positions that scale differently"
    spatial = list(range(2, x.ndim))
    samples, c_in, c_out = x.shape[0], x.shape[1], out[1]
    # (N, groups, m = 1, k = c_in / groups) times (groups, k, n = c_out / groups)
    x_terms = []
    for term in charges.constant(context.terms(x), spatial, reason):
        for _ in spatial:
            term = term.select(-1, 0)
        term = term.reshape(samples, groups, 1, c_in // groups)
        x_terms.append(compress(term))
    w_terms = []
    kernel = [term for term in context.terms(weight) if support(term) & set(spatial)]
    for term in kernel:
        charges.zero([term], reason)
    for term in [t for t in context.terms(weight) if not support(t) & set(spatial)]:
        for _ in spatial:
            term = term.select(-1, 0)
        if transposed:
            term = term.reshape(groups, c_in // groups, c_out // groups)
        else:
            term = term.reshape(groups, c_out // groups, c_in // groups).transpose(1, 2)
        w_terms.append(compress(term).unsqueeze(0).expand(samples, -1, -1, -1))
    product = contract(context, x_terms, w_terms, "sum over channels that scale differently")
    shape = (samples, groups, 1, c_out // groups)
    terms = []
    for term in product:
        term = compress(term.expand(shape).reshape(samples, c_out))
        terms.append(term.reshape(samples, c_out, *[1] * len(spatial)).expand(out))
    terms = charges.short(charges.simplified(terms))
    if bias is not None:
        along = [t.reshape(1, c_out, *[1] * len(spatial)).expand(out) for t in context.terms(bias)]
        charges.equal(along, terms, "bias that does not scale with its layer")
    return [terms]
