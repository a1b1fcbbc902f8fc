# SPDX-License-Identifier: MIT
"""Rules for normalisation."""

from __future__ import annotations

from fractions import Fraction

import torch
from torch import Tensor

from ..charges import Terms, support
from ..recorder import Operation
from .base import Context, argument, broadcast, rule, shape_of


def _per_channel(terms: Terms, shape: torch.Size) -> Terms:
    return [t.reshape(1, -1, *[1] * (len(shape) - 2)).expand(shape) for t in terms]


@rule("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training")
def _batch_norm(context: Context, op: Operation) -> list[Terms]:
    charges, x, shape = context.charges, op.args[0], shape_of(op)
    weight, bias, mean, variance = op.args[1:5]
    if op.name == "_native_batch_norm_legit" and not isinstance(mean, Tensor):
        training, eps, mean = True, op.args[5], None
    elif op.name.endswith("no_training"):
        training, eps = False, op.args[6]
    else:
        training, eps = op.args[5], op.args[7]
    terms = context.terms(x)
    if training or mean is None:
        charges.zero(terms, "batch norm of the batch: its epsilon makes scalings inexact")
        terms = []
    else:
        means = _per_channel(context.leaf_statistics(mean, 0.0), shape)
        charges.equal(means, terms, "running mean")
        if not context.signs:
            spread = _per_channel(context.leaf_statistics(variance, eps), shape)
            spread = charges.scaled(spread, Fraction(-1, 2))
            terms = charges.simplified([*terms, *spread])
    gain = _per_channel(context.terms(weight), shape) if weight is not None else []
    charges.mark_nonlinear([*terms, *gain], "batch norm")
    terms = charges.short(charges.simplified([*terms, *gain]))
    if bias is not None:
        charges.equal(_per_channel(context.terms(bias), shape), terms, "bias of a norm")
    return [terms, [], []]


@rule("native_layer_norm", "_fused_rms_norm", "rms_norm")
def _layer_norm(context: Context, op: Operation) -> list[Terms]:
    charges, shape = context.charges, shape_of(op)
    weight = argument(op, 2, "weight")
    bias = argument(op, 3, "bias") if op.name == "native_layer_norm" else None
    terms = context.terms(op.args[0])
    if not context.signs:
        charges.zero(terms, "layer norm: its epsilon makes scalings inexact")
        terms = []
    elif op.name == "native_layer_norm":
        axes = range(len(shape) - len(op.args[1]), len(shape))
        terms = charges.constant(terms, axes, "layer norm subtracts the mean")
    gain = broadcast(context.terms(weight), shape) if weight is not None else []
    charges.mark_nonlinear(gain, "gain of a norm")
    if weight is not None:
        charges.mark_nonlinear(terms, "gain of a norm")
    terms = charges.short(charges.simplified([*terms, *gain]))
    if bias is not None:
        charges.equal(broadcast(context.terms(bias), shape), terms, "bias of a norm")
    return [terms] + [[] for _ in op.outputs[1:]]


@rule("native_group_norm")
def _group_norm(context: Context, op: Operation) -> list[Terms]:
    x, weight, bias = op.args[:3]
    charges, shape = context.charges, shape_of(op)
    charges.zero(context.terms(x), "group norm: its epsilon makes scalings inexact")
    gain = _per_channel(context.terms(weight), shape) if weight is not None else []
    charges.mark_nonlinear(gain, "gain of a norm")
    if bias is not None:
        charges.equal(_per_channel(context.terms(bias), shape), gain, "bias of a norm")
    return [gain, [], []]


@rule("_weight_norm_interface")
def _weight_norm(context: Context, op: Operation) -> list[Terms]:
    """w = g v / |v|: rows of v may be scaled at will."""
    direction, gain, dim = op.args[0], op.args[1], argument(op, 2, "dim", 0)
    charges = context.charges
    for term in context.terms(direction):
        charges.mark_nonlinear([term], "weight norm")
        if support(term) != {dim} or context.signs:
            charges.zero([term], "norm of weights that scale differently")
    terms = broadcast(context.terms(gain), shape_of(op))
    return [terms, []]
