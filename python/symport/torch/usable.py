# SPDX-License-Identifier: MIT
"""Which groups may move at a step, and why the others are left alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from .action import slot_matrix
from .closed_forms import overlap
from .movables import HALF, Movables
from .symmetries import Group

#: A true identity has a Noether residual of rounding size (and more near a minimum, where gradients
#: are small differences), a false one about 0.01 or more.
RESIDUAL_LIMITS = {
    torch.float64: 1e-5,
    torch.float32: 5e-3,
    torch.bfloat16: 0.1,
    torch.float16: 0.1,
}

NOT_OF_THIS_LOSS = "not a symmetry of this loss"
DIFFERENT_DECAYS = "have different weight decays"


def optimizer_groups(movables: Movables) -> dict[str, dict[str, Any]] | None:
    """The optimizers' parameter group of every parameter; None without an optimizer."""
    if not movables.optimizers:
        return None
    return {
        movables.names[p]: g
        for optimizer in movables.optimizers
        for g in optimizer.param_groups
        for p in g["params"]
        if p in movables.names
    }


def reasons(
    movables: Movables, gradients: Mapping[str, Tensor] | None, *, across_decay: bool
) -> tuple[list[str], list[float | None]]:
    """Why a group is left alone ("" if it may move), and its Noether residual."""
    settings = optimizer_groups(movables)
    why: list[str] = []
    residuals: list[float | None] = []
    taken: list[Group] = []
    for group in movables.groups:
        reason = _reason(movables, group, gradients, settings, across_decay)
        residual = None
        if gradients is not None:
            residual = noether_residual(group, movables.tensors, gradients)
        limit = max(RESIDUAL_LIMITS[movables.tensors[s.tensor].dtype] for s in group.slots)
        if not reason and residual is not None and not residual <= limit:
            reason = (
                f"{NOT_OF_THIS_LOSS}: Noether residual {residual:.1e} "
                "(a penalty on the weights in the loss, or gradients of another point?)"
            )
        if not reason and any(_clash(group, other) for other in taken):
            reason = "acts on the same axis as a group of matrices that moves"
        if not reason:
            taken.append(group)
        why.append(reason)
        residuals.append(residual)
    return why, residuals


def _reason(
    movables: Movables,
    group: Group,
    gradients: Mapping[str, Tensor] | None,
    settings: Mapping[str, dict[str, Any]] | None,
    across_decay: bool,
) -> str:
    reason = movables.wrong_mode(group)
    if reason:
        return reason
    decays: dict[float, str] = {}
    for slot in group.slots:
        tensor = movables.tensors[slot.tensor]
        if tensor.dtype in HALF and group.kind in ("gl", "orthogonal"):
            return f"{slot.tensor} is {tensor.dtype}: only powers of two keep the function"
        if not isinstance(tensor, nn.Parameter):
            continue
        if not tensor.requires_grad:
            return f"{slot.tensor} is frozen"
        if gradients is not None and slot.tensor not in gradients:
            return f"{slot.tensor} has no gradient at this step"
        if settings is not None:
            if slot.tensor not in settings:
                return f"{slot.tensor} is not in the optimizer"
            decays.setdefault(float(settings[slot.tensor].get("weight_decay", 0.0)), slot.tensor)
    if len(decays) > 1 and not across_decay:
        names = " and ".join(decays.values())
        return f"{names} {DIFFERENT_DECAYS} (across_decay=True moves them)"
    return ""


def noether_residual(
    group: Group, tensors: Mapping[str, Tensor], gradients: Mapping[str, Tensor]
) -> float | None:
    """|Proj(sum_{rho=g} G P' - sum_{rho=g^-T} P G')| over the size of its terms: 0 for a symmetry
    of the loss that the gradients belong to. None where a tensor of the group has no gradient, or
    the group is discrete."""
    if group.kind in ("sign", "permutation"):
        return None
    if any(s.tensor not in gradients for s in group.slots):
        return None
    total: Tensor | None = None
    size: Tensor | float = 0.0
    for slot in group.slots:
        p = slot_matrix(tensors[slot.tensor].detach(), slot)
        g = slot_matrix(gradients[slot.tensor], slot).to(p.dtype)
        if p.dtype in HALF:
            p, g = p.float(), g.float()
        if group.kind == "scale":
            terms = p * g
            term = float(slot.rho) * terms.sum(1).to("cpu", torch.float64)
            size = size + abs(float(slot.rho)) * terms.abs_().sum(1).to("cpu", torch.float64)
        else:
            term = (g @ p.mT if slot.rho == "g" else -(p @ g.mT)).to("cpu", torch.float64)
            size = (
                size + torch.linalg.vector_norm(p).double() * torch.linalg.vector_norm(g).double()
            )
        total = term if total is None else total + term
    assert total is not None
    if group.kind == "orthogonal":
        total = (total - total.mT) / 2
    scale = float(torch.linalg.vector_norm(torch.as_tensor(size)))
    return float(torch.linalg.vector_norm(total)) / scale if scale > 0 else 0.0


def _clash(group: Group, other: Group) -> bool:
    """Two groups that do not commute: one axis in common, and a matrix among them."""
    dense = any(g.kind in ("gl", "orthogonal") for g in (group, other))
    return dense and any(overlap(s, t) for s in group.slots for t in other.slots)
