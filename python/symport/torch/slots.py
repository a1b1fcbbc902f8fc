# SPDX-License-Identifier: MIT
"""Slots: the places of a model's tensors on which a symmetry group acts.

A symmetry is a group together with slots; the slot (P, k, [a, b), rho) says that the range [a, b)
of axis k of tensor P transforms by rho(g), from the left on that axis:

    P' = rho(g) x_k P              parameters, copies of them (points), tangent vectors
    G' = rho(g)^-T x_k G           gradients, momentum (cotangent vectors)

Shapes: the range holds size * repeat entries; group index i owns the entries
a + i * repeat ... a + (i + 1) * repeat - 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

Kind = Literal["scale", "gl", "orthogonal", "sign", "permutation"]
KINDS: tuple[str, ...] = ("scale", "gl", "orthogonal", "sign", "permutation")

State = Literal[
    "point",
    "tangent",
    "cotangent",
    "squared_cotangent",
    "absolute_cotangent",
    "squared_tangent",
    "absolute_tangent",
    "normalised",
]
STATES: tuple[str, ...] = (
    "point",  # copies of the parameters: EMA, SWA, slow weights
    "tangent",  # differences of parameters
    "cotangent",  # gradients and their averages
    "squared_cotangent",  # second moments of gradients (dense: entries taken as uncorrelated)
    "absolute_cotangent",  # largest absolute gradients (Adamax)
    "squared_tangent",  # Adadelta's acc_delta
    "absolute_tangent",  # Rprop's step sizes
    "normalised",  # sums of g / sqrt(v) (RMSprop's momentum): only signs and order matter
)


@dataclass(frozen=True)
class Slot:
    """The range [start, stop) of one axis of a named parameter or buffer, and how it transforms.

    rho: a number c for scale and sign groups (the entries are multiplied by s**c); "g" or "g^-T"
    for gl and orthogonal groups; "g" for permutations.
    shift: the action is P -> rho (P + shift) - shift; the running variance of a batch norm has its
    epsilon here, since the layer divides by sqrt(v + epsilon).
    """

    tensor: str
    axis: int
    start: int
    stop: int
    repeat: int
    rho: float | str
    shift: float = 0.0

    @property
    def size(self) -> int:
        return (self.stop - self.start) // self.repeat

    def to_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "tensor": self.tensor,
            "axis": self.axis,
            "start": self.start,
            "stop": self.stop,
            "repeat": self.repeat,
            "rho": self.rho,
        }
        if self.shift:
            fields["shift"] = self.shift
        return fields


def check_slot(slot: Slot, kind: str, size: int, shape: tuple[int, ...]) -> None:
    """Raises ValueError if the slot does not fit its group or its tensor."""
    name = f"slot on {slot.tensor!r}"
    if not 0 <= slot.axis < len(shape):
        raise ValueError(f"{name}: axis {slot.axis} of a tensor with {len(shape)} axes")
    if not 0 <= slot.start < slot.stop <= shape[slot.axis]:
        raise ValueError(
            f"{name}: range [{slot.start}, {slot.stop}) of an axis of length {shape[slot.axis]}"
        )
    if slot.repeat < 1 or slot.stop - slot.start != size * slot.repeat:
        raise ValueError(
            f"{name}: range [{slot.start}, {slot.stop}) with repeat {slot.repeat} does not hold"
            f" {size} indices"
        )
    if kind in ("scale", "sign"):
        if isinstance(slot.rho, str) or not math.isfinite(slot.rho):
            raise ValueError(f"{name}: rho is {slot.rho!r}, expected a number for kind {kind!r}")
    elif slot.rho not in (("g",) if kind == "permutation" else ("g", "g^-T")):
        raise ValueError(f"{name}: rho is {slot.rho!r}, expected 'g' or 'g^-T' for kind {kind!r}")
    if slot.shift and kind != "scale":
        raise ValueError(f"{name}: a shift is possible for kind 'scale' only")


def check_element(kind: str, size: int, element: Tensor) -> None:
    """Raises ValueError if the tensor is not an element of the group."""
    shape = (size, size) if kind in ("gl", "orthogonal") else (size,)
    if tuple(element.shape) != shape:
        raise ValueError(
            f"element of a {kind} group of size {size}: shape {tuple(element.shape)},"
            f" expected {shape}"
        )
    if kind == "permutation":
        if not torch.equal(element.sort().values, torch.arange(size, dtype=element.dtype)):
            raise ValueError(f"element of a permutation group: not a permutation of 0..{size - 1}")
        return
    if not bool(torch.isfinite(element).all()):
        raise ValueError(f"element of a {kind} group: holds infinity or NaN")
    if kind == "scale" and not bool((element > 0).all()):
        raise ValueError("element of a scale group: every scale must be positive")
    if kind == "sign" and not bool((element.abs() == 1).all()):
        raise ValueError("element of a sign group: every entry must be 1 or -1")
    if kind == "orthogonal":
        error = (element @ element.T - torch.eye(size, dtype=element.dtype)).abs().max().item()
        if error > 1e-8:
            raise ValueError(f"element of an orthogonal group: |g gT - 1| is {error:.1e}")


class Representation:
    """rho(g) for one element of one group, in every form that slots and states need."""

    def __init__(self, kind: str, element: Tensor) -> None:
        self.kind = kind
        self.element = element
        self._inverse_transpose: Tensor | None = None

    @property
    def inverse_transpose(self) -> Tensor:
        if self._inverse_transpose is None:
            self._inverse_transpose = torch.linalg.inv(self.element).T.contiguous()
        return self._inverse_transpose

    def operator(self, rho: float | str, state: str) -> Tensor | None:
        """Vector of factors, matrix, or vector of indices; None: the state does not change."""
        dual = state.endswith("cotangent")
        if self.kind == "permutation":
            return self.element
        if self.kind in ("scale", "sign"):
            assert not isinstance(rho, str)
            factor = self.element ** (-rho if dual else rho)
            if state == "normalised":
                return factor.sign() if self.kind == "sign" else None
        else:
            if state == "normalised":
                return None
            transposed = (rho == "g^-T") != dual and self.kind == "gl"
            factor = self.inverse_transpose if transposed else self.element
        if state.startswith("squared"):
            return factor * factor
        if state.startswith("absolute"):
            return factor.abs()
        return factor


def compute_dtype(tensor: Tensor) -> torch.dtype:
    """Half precision is multiplied in float, so that only the result is rounded."""
    if tensor.dtype in (torch.float16, torch.bfloat16):
        return torch.float32
    return tensor.dtype


def transformed(slot: Slot, tensor: Tensor, representation: Representation, state: str) -> Tensor:
    """The new contents of tensor.narrow(slot.axis, slot.start, ...), in the tensor's own type."""
    part = tensor.narrow(slot.axis, slot.start, slot.stop - slot.start)
    operator = representation.operator(slot.rho, state)
    if operator is None:
        return part
    dtype = compute_dtype(tensor)
    if representation.kind == "permutation":
        entries = operator.to(tensor.device).long()[:, None] * slot.repeat
        entries = (entries + torch.arange(slot.repeat, device=tensor.device)).flatten()
        return part.index_select(slot.axis, entries)
    if operator.ndim == 1:
        factor = operator.to(device=tensor.device, dtype=dtype)
        shape = [1] * tensor.ndim
        shape[slot.axis] = slot.stop - slot.start
        factor = factor.repeat_interleave(slot.repeat).view(shape)
        wide = part.to(dtype)
        if slot.shift and state == "point":
            # In the tensor's own precision, in which batch norm adds epsilon: powers of two
            # stay exact.
            return ((wide + slot.shift) * factor - slot.shift).to(tensor.dtype)
        return (wide * factor).to(tensor.dtype)
    # Dense matrices: products in double precision where the device has it, one rounding at the end.
    dtype = torch.float32 if tensor.device.type == "mps" else torch.float64
    matrix = operator.to(device=tensor.device, dtype=dtype)
    blocks = part.to(dtype).unflatten(slot.axis, (slot.size, slot.repeat))
    moved = torch.tensordot(matrix, blocks, dims=([1], [slot.axis])).movedim(0, slot.axis)
    return moved.flatten(slot.axis, slot.axis + 1).to(tensor.dtype)


def where_of(slots: Sequence[Slot]) -> str:
    """Modules whose slots scale up and, after an arrow, those that scale down."""

    def modules(up: bool) -> list[str]:
        names = [
            slot.tensor
            for slot in slots
            if (slot.rho == "g" or (not isinstance(slot.rho, str) and slot.rho > 0)) == up
        ]
        short = [
            name.rpartition(".")[0] if name.rpartition(".")[2] in ("weight", "bias") else name
            for name in names
        ]
        return list(dict.fromkeys(name or "model" for name in short))

    left, right = modules(True), modules(False)
    together = left + right
    prefix = together[0].split(".")[:-1]
    for name in together:
        parts = name.split(".")[:-1]
        while prefix and parts[: len(prefix)] != prefix:
            prefix.pop()
    start = ".".join(prefix)

    def text(names: list[str]) -> str:
        names = [name[len(start) + 1 :] if start else name for name in names]
        if len(names) > 4:
            names = [*names[:2], "...", names[-1]]
        return ", ".join(names)

    arrow = f"{text(left)} → {text(right)}" if right else text(left)
    return f"{start}: {arrow}" if start else arrow
