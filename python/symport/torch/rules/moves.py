# SPDX-License-Identifier: MIT
"""Rules for operations that move entries: the operation itself moves the numbers of the forms."""

from __future__ import annotations

import torch
from torch import Tensor

from ..charges import Terms, compress, core, support
from ..recorder import Operation
from .base import Context, argument, broadcast, rule, shape_of

MOVES = (
    "t transpose permute expand squeeze unsqueeze slice select split split_with_sizes unbind unfold"
    " diagonal flip roll repeat index_select narrow movedim pixel_shuffle pixel_unshuffle"
    " channel_shuffle reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d"
    " squeeze_copy expand_copy permute_copy slice_copy index take_along_dim gather swapaxes"
).split()


@rule(*MOVES)
def _move(context: Context, op: Operation) -> list[Terms]:
    results: list[Terms] = [[] for _ in op.outputs]
    for term in context.terms(op.args[0]):
        moved = op.func(term, *op.args[1:], **op.kwargs)
        parts = moved if isinstance(moved, (tuple, list)) else (moved,)
        for result, part in zip(results, parts, strict=True):
            result.append(compress(part))
    return [context.charges.simplified(result) for result in results]


@rule("view", "_unsafe_view", "reshape", "view_copy", "_reshape_alias")
def _view(context: Context, op: Operation) -> list[Terms]:
    terms = context.terms(op.args[0])
    return [[compress(term.reshape(shape_of(op))) for term in terms]]


@rule("clone", "detach", "alias", "lift_fresh", "lift_fresh_copy", "contiguous", "detach_")
def _same(context: Context, op: Operation) -> list[Terms]:
    return [context.terms(op.args[0])]


@rule("_to_copy")
def _to_copy(context: Context, op: Operation) -> list[Terms]:
    terms = context.terms(op.args[0])
    if not (op.outputs[0].is_floating_point() or op.outputs[0].is_complex()):
        context.charges.zero(terms, "conversion to integers")
        return [[]]
    return [terms]


@rule("copy_")
def _copy(context: Context, op: Operation) -> list[Terms]:
    return [broadcast(context.terms(op.args[1]), shape_of(op))]


@rule(*(
    "empty_like zeros_like ones_like full_like rand_like randn_like new_zeros new_ones new_empty"
    " new_full zero_ fill_ bernoulli_ normal_ uniform_ new_empty_strided randint_like"
).split())  # fmt: skip
def _fresh(context: Context, op: Operation) -> list[Terms]:
    return [[] for _ in op.outputs]


@rule("cat", "stack")
def _cat(context: Context, op: Operation) -> list[Terms]:
    dim = argument(op, 1, "dim", 0) % len(shape_of(op))
    tensors = [
        t for t in op.args[0] if not (t.ndim == 1 and t.shape[0] == 0 and len(shape_of(op)) > 1)
    ]
    pieces: list[tuple[Tensor, torch.Size]] = []
    keep: set[int] = {dim}
    for tensor in tensors:
        terms = context.terms(tensor)
        joint = torch.zeros((), dtype=torch.int64).expand(tensor.shape)
        for term in terms:
            both = support(joint) | support(term)
            joint = context.charges.combine([(core(joint, both), 1), (core(term, both), 1)])
            joint = joint.expand(tensor.shape)
        if op.name == "stack":
            joint = joint.unsqueeze(dim)
        pieces.append((joint, joint.shape))
        keep |= support(joint)
    merged = torch.cat([core(piece, keep) for piece, _ in pieces], dim)
    return [context.charges.simplified([compress(merged.expand(shape_of(op)))])]


@rule("constant_pad_nd")
def _pad(context: Context, op: Operation) -> list[Terms]:
    terms = context.terms(op.args[0])
    if argument(op, 2, "value", 0) != 0:
        context.charges.zero(terms, "padding by a constant")
        return [[]]
    pads = op.args[1]
    ndim = len(shape_of(op))
    padded = {ndim - 1 - i // 2 for i, width in enumerate(pads) if width}
    result = []
    for term in terms:
        if support(term) & padded:
            result.append(compress(op.func(term, *op.args[1:], **op.kwargs)))
        else:
            for d in padded:
                term = term.narrow(d, 0, 1)
            result.append(term.expand(shape_of(op)))
    return [result]


@rule("embedding")
def _embedding(context: Context, op: Operation) -> list[Terms]:
    kept = []
    for term in context.terms(op.args[0]):
        if 0 in support(term):
            context.charges.zero([term], "rows chosen by tokens")
        else:
            kept.append(term[0].expand(shape_of(op)))
    return [kept]


@rule("view_as_complex")
def _as_complex(context: Context, op: Operation) -> list[Terms]:
    terms = context.terms(op.args[0])
    last = op.args[0].ndim - 1
    context.charges.mark_nonlinear(terms, "complex product")
    terms = context.charges.constant(terms, [last], "both parts of a complex number")
    return [[term.select(last, 0) for term in terms]]


@rule("view_as_real")
def _as_real(context: Context, op: Operation) -> list[Terms]:
    return [[t.unsqueeze(-1).expand(shape_of(op)) for t in context.terms(op.args[0])]]
