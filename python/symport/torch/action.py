# SPDX-License-Identifier: MIT
"""One element of one group on tensors by name."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from .slots import Representation, Slot, compute_dtype, transformed
from .symmetries import Group


def compose(group: Group, second: Tensor, first: Tensor) -> Tensor:
    """The element that acts as `first`, then `second`."""
    if group.kind in ("scale", "sign"):
        return second * first
    if group.kind == "permutation":
        return first[second]
    return second @ first


def condition(group: Group, element: Tensor) -> float:
    """The largest stretch over the smallest."""
    if group.kind == "scale":
        return float(element.max() / element.min())
    if group.kind == "gl":
        return float(torch.linalg.cond(element))
    return 1.0


def is_power_of_two(group: Group, element: Tensor) -> bool:
    """Whether multiplying by the element only changes exponents and signs, or the order."""
    if group.kind == "scale":
        integral = all(float(s.rho).is_integer() for s in group.slots)
        return integral and bool((torch.frexp(element).mantissa == 0.5).all())
    return group.kind in ("sign", "permutation")


def slot_matrix(tensor: Tensor, slot: Slot) -> Tensor:
    """The slot as a matrix with one row for each coordinate of the group."""
    part = tensor.narrow(slot.axis, slot.start, slot.stop - slot.start)
    return part.movedim(slot.axis, 0).reshape(slot.size, -1)


@torch.no_grad()
def move_slot(slot: Slot, tensor: Tensor, representation: Representation, state: str) -> None:
    """Move one slot of a tensor in place."""
    part = tensor.narrow(slot.axis, slot.start, slot.stop - slot.start)
    shifted = slot.shift != 0 and state == "point"
    if representation.kind == "scale" and not shifted and tensor.dtype == compute_dtype(tensor):
        # The same product as in `transformed`, without a second tensor.
        factor = representation.operator(slot.rho, state)
        if factor is not None:
            factor = factor.to(tensor.device, tensor.dtype).repeat_interleave(slot.repeat)
            part.mul_(factor.view([-1] + [1] * (tensor.dim() - slot.axis - 1)))
        return
    part.copy_(transformed(slot, tensor, representation, state))


def move_group(tensors: Mapping[str, Tensor], group: Group, element: Tensor, state: str) -> None:
    """Move those of `tensors` that the group touches, in place, as the kind of state they are."""
    representation = Representation(group.kind, element)
    for slot in group.slots:
        tensor = tensors.get(slot.tensor)
        if tensor is not None:
            move_slot(slot, tensor, representation, state)
