# SPDX-License-Identifier: MIT
"""What each ATen operation does to the scales of its operands (charges.py).

A rule returns the terms of each output. An operation without a rule must not be scaled: its operands get
charge zero. Modulo 2 (signs) the rules for odd and even functions take the place of homogeneity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

from .charges import Charges, Number, Terms, compress, core, support
from .recorder import Operation

Rule = Callable[["Context", Operation], list[Terms]]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


class Context:
    """What a rule can ask: the terms of a tensor, and the equations."""

    def __init__(self, charges: Charges, lookup: Callable[[Any], Terms]) -> None:
        self.charges = charges
        self.terms = lookup

    @property
    def signs(self) -> bool:
        return self.charges.modulus == 2

    def leaf_statistics(self, tensor: Tensor, shift: float) -> Terms:
        raise NotImplementedError


def broadcast(terms: Terms, shape: torch.Size | tuple[int, ...]) -> Terms:
    return [term.expand(shape) for term in terms]


def _shape(op: Operation, output: int = 0) -> torch.Size:
    return op.outputs[output].shape


def _argument(op: Operation, position: int, name: str, default: Any = None) -> Any:
    return op.args[position] if len(op.args) > position else op.kwargs.get(name, default)


def _axes(op: Operation, position: int, ndim: int, name: str = "dim") -> list[int]:
    dims = _argument(op, position, name)
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return list(range(ndim))
    dims = [dims] if isinstance(dims, int) else dims
    return [d % ndim for d in dims] if ndim else []


# Movement of entries: the operation itself moves the numbers of the forms. -----------------------------

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
    return [[compress(term.reshape(_shape(op))) for term in terms]]


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
    return [broadcast(context.terms(op.args[1]), _shape(op))]


@rule(*(
    "empty_like zeros_like ones_like full_like rand_like randn_like new_zeros new_ones new_empty"
    " new_full zero_ fill_ bernoulli_ normal_ uniform_ new_empty_strided randint_like"
).split())  # fmt: skip
def _fresh(context: Context, op: Operation) -> list[Terms]:
    return [[] for _ in op.outputs]


@rule("cat", "stack")
def _cat(context: Context, op: Operation) -> list[Terms]:
    dim = _argument(op, 1, "dim", 0) % len(_shape(op))
    tensors = [
        t for t in op.args[0] if not (t.ndim == 1 and t.shape[0] == 0 and len(_shape(op)) > 1)
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
    return [context.charges.simplified([compress(merged.expand(_shape(op)))])]


@rule("constant_pad_nd")
def _pad(context: Context, op: Operation) -> list[Terms]:
    terms = context.terms(op.args[0])
    if _argument(op, 2, "value", 0) != 0:
        context.charges.zero(terms, "padding by a constant")
        return [[]]
    pads = op.args[1]
    ndim = len(_shape(op))
    padded = {ndim - 1 - i // 2 for i, width in enumerate(pads) if width}
    result = []
    for term in terms:
        if support(term) & padded:
            result.append(compress(op.func(term, *op.args[1:], **op.kwargs)))
        else:
            for d in padded:
                term = term.narrow(d, 0, 1)
            result.append(term.expand(_shape(op)))
    return [result]


@rule("embedding")
def _embedding(context: Context, op: Operation) -> list[Terms]:
    kept = []
    for term in context.terms(op.args[0]):
        if 0 in support(term):
            context.charges.zero([term], "rows chosen by tokens")
        else:
            kept.append(term[0].expand(_shape(op)))
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
    return [[t.unsqueeze(-1).expand(_shape(op)) for t in context.terms(op.args[0])]]


# Entry by entry ----------------------------------------------------------------------------------------


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
def _add(context: Context, op: Operation) -> list[Terms]:
    left, right = op.args[0], op.args[1]
    if not isinstance(right, Tensor):
        terms = context.terms(left)
        if right != 0 and right != (0,):
            context.charges.zero(terms, "addition of a constant")
            return [[]]
        return [terms]
    a, b = broadcast(context.terms(left), _shape(op)), broadcast(context.terms(right), _shape(op))
    if op.name in ("maximum", "minimum", "lerp"):
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
    if _argument(op, 2, "rounding_mode") is not None:
        return _veto(context, op)
    charges, ndim = context.charges, len(_shape(op))
    a = broadcast(context.terms(left), _shape(op))
    b = broadcast(context.terms(right), _shape(op))
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
        return _veto(context, op)
    if name in EVEN:
        return [[]]
    context.charges.mark_nonlinear(terms, name)
    if name in ODD:
        return [terms]
    return _veto(context, op)


@rule("neg", "neg_", "conj", "_conj", "conj_physical", "real")
def _linear_unary(context: Context, op: Operation) -> list[Terms]:
    return [context.terms(op.args[0])]


@rule("pow", "pow_")
def _power(context: Context, op: Operation) -> list[Terms]:
    terms, exponent = context.terms(op.args[0]), op.args[1]
    if isinstance(exponent, Tensor) or not isinstance(op.args[0], Tensor):
        return _veto(context, op)
    power = Fraction(exponent).limit_denominator(64)
    if context.signs:
        if power.denominator != 1:
            return _veto(context, op)
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
        return _veto(context, op)
    context.charges.mark_nonlinear(context.terms(op.args[0]), "relu")
    return [context.terms(op.args[0])]


@rule("_prelu_kernel")
def _prelu(context: Context, op: Operation) -> list[Terms]:
    context.charges.zero(context.terms(op.args[1]), "slope of prelu")
    if context.signs:
        return _veto(context, op)
    context.charges.mark_nonlinear(context.terms(op.args[0]), "prelu")
    return [context.terms(op.args[0])]


@rule("native_dropout", "dropout", "feature_dropout")
def _dropout(context: Context, op: Operation) -> list[Terms]:
    terms = context.terms(op.args[0])
    context.charges.mark_nonlinear(terms, "dropout")
    return [terms] + [[] for _ in op.outputs[1:]]


@rule("glu")
def _glu(context: Context, op: Operation) -> list[Terms]:
    dim = _argument(op, 1, "dim", -1)
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
    terms = broadcast(terms, _shape(op))
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
        return _veto(context, op)
    context.charges.zero(context.terms(op.args[0]), "condition")
    a, b = (broadcast(context.terms(x), _shape(op)) for x in op.args[1:3])
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
        return _veto(context, op)
    context.charges.mark_nonlinear(context.terms(op.args[0]), "comparison")
    return [[]]


# Reductions --------------------------------------------------------------------------------------------


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
        return _add(context, op)
    terms, charges = context.terms(x), context.charges
    axes = _axes(op, 2 if op.name == "linalg_vector_norm" else 1, x.ndim)
    if context.signs:
        if op.name == "linalg_vector_norm":
            return [[]]
        if op.name not in ("sum", "mean", "nansum"):
            return _veto(context, op)
    if op.name not in ("sum", "mean", "nansum"):
        charges.mark_nonlinear(terms, op.name)
    terms = charges.constant(terms, axes, f"{op.name} over channels that scale differently")
    terms = _reduced(terms, axes, _shape(op), x.ndim)
    if op.name == "var":
        terms = charges.scaled(terms, 2)
    return [terms] + [[] for _ in op.outputs[1:]]


@rule("cumsum")
def _cumsum(context: Context, op: Operation) -> list[Terms]:
    axes = _axes(op, 1, op.args[0].ndim)
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
    return broadcast(terms, _shape(op))


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
        return _veto(context, op)
    context.charges.mark_nonlinear(terms, "max_pool")
    return [_spatial(context, op, terms, op.args[0]), []]


# Products ----------------------------------------------------------------------------------------------


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
    return [context.charges.short(broadcast(product, _shape(op)))]


@rule("addmm", "baddbmm")
def _addmm(context: Context, op: Operation) -> list[Terms]:
    a, b = context.terms(op.args[1]), context.terms(op.args[2])
    product = contract(context, a, b, "sum over channels that scale differently")
    product = context.charges.short(broadcast(product, _shape(op)))
    if op.kwargs.get("beta", 1) != 0:
        bias = broadcast(context.terms(op.args[0]), _shape(op))
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
    return [context.charges.short(broadcast(product, _shape(op)))]


@rule("convolution")
def _convolution(context: Context, op: Operation) -> list[Terms]:
    x, weight, bias = op.args[0], op.args[1], op.args[2]
    transposed, groups = op.args[6], op.args[8]
    charges, out = context.charges, _shape(op)
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


# Normalisation -----------------------------------------------------------------------------------------


def _per_channel(terms: Terms, shape: torch.Size) -> Terms:
    return [t.reshape(1, -1, *[1] * (len(shape) - 2)).expand(shape) for t in terms]


@rule("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training")
def _batch_norm(context: Context, op: Operation) -> list[Terms]:
    charges, x, shape = context.charges, op.args[0], _shape(op)
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
    charges, shape = context.charges, _shape(op)
    weight = _argument(op, 2, "weight")
    bias = _argument(op, 3, "bias") if op.name == "native_layer_norm" else None
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
    charges, shape = context.charges, _shape(op)
    charges.zero(context.terms(x), "group norm: its epsilon makes scalings inexact")
    gain = _per_channel(context.terms(weight), shape) if weight is not None else []
    charges.mark_nonlinear(gain, "gain of a norm")
    if bias is not None:
        charges.equal(_per_channel(context.terms(bias), shape), gain, "bias of a norm")
    return [gain, [], []]


@rule("_weight_norm_interface")
def _weight_norm(context: Context, op: Operation) -> list[Terms]:
    """w = g v / |v|: rows of v may be scaled at will."""
    direction, gain, dim = op.args[0], op.args[1], _argument(op, 2, "dim", 0)
    charges = context.charges
    for term in context.terms(direction):
        charges.mark_nonlinear([term], "weight norm")
        if support(term) != {dim} or context.signs:
            charges.zero([term], "norm of weights that scale differently")
    terms = broadcast(context.terms(gain), _shape(op))
    return [terms, []]


# Everything else ---------------------------------------------------------------------------------------

VETOES = {
    "gelu": "gelu is not homogeneous",
    "silu": "silu is not homogeneous",
    "hardtanh": "relu6 and hardtanh saturate",
    "hardswish": "hardswish saturates",
    "hardsigmoid": "hardsigmoid saturates",
    "elu": "elu is not homogeneous",
    "celu": "celu is not homogeneous",
    "selu": "selu is not homogeneous",
    "softplus": "softplus is not homogeneous",
    "mish": "mish is not homogeneous",
    "sigmoid": "sigmoid is not homogeneous",
    "tanh": "tanh is not homogeneous",
    "_softmax": "softmax is not homogeneous",
    "_safe_softmax": "softmax is not homogeneous",
    "_log_softmax": "softmax is not homogeneous",
    "exp": "exp is not homogeneous",
    "log": "log is not homogeneous",
    "clamp": "clamp saturates",
}


def _veto(context: Context, op: Operation) -> list[Terms]:
    """The operands must not be scaled."""
    name = op.name.removesuffix("_")
    reason = VETOES.get(name, f"no rule for {name}" if op.name not in RULES else f"{name}")
    for argument in [*op.args, *op.kwargs.values()]:
        for tensor in argument if isinstance(argument, (list, tuple)) else [argument]:
            context.charges.zero(context.terms(tensor), reason)
    return [[] for _ in op.outputs]


def apply_rule(context: Context, op: Operation) -> list[Terms]:
    function = RULES.get(op.name)
    if function is None:
        return _veto(context, op)
    try:
        return function(context, op)
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
        # An overload that the rule was not written for; equations that it added only forbid more.
        return _veto(context, op)
