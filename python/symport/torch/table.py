# SPDX-License-Identifier: MIT
"""The table that `print(symmetries)` shows, and which optimizer feels which group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from .symmetries import Group, Refusal

# An optimizer that is equivariant under a group takes the same steps after a teleport: it does
# not feel the group. Signs and permutations are felt by none of them.
_FEELS_SCALE_AND_GL = ("SGD", "ASGD", "LBFGS", "Muon", "Shampoo", "SOAP")
_FEELS_ORTHOGONAL_TOO = (
    "Adam",
    "AdamW",
    "NAdam",
    "RAdam",
    "Adamax",
    "RMSprop",
    "Adagrad",
    "Adadelta",
    "Adafactor",
    "Lion",
    "Sophia",
    "SparseAdam",
)
_FEELS_NO_SCALE = ("Rprop",)
_FEELS_NOTHING = ("KFAC", "NaturalGradient", "Newton")
_KNOWN = (*_FEELS_SCALE_AND_GL, *_FEELS_ORTHOGONAL_TOO, *_FEELS_NO_SCALE, *_FEELS_NOTHING)

#: An optimizer, its class, or the name of its class.
OptimizerLike = torch.optim.Optimizer | type[torch.optim.Optimizer] | str


def optimizer_name(optimizer: OptimizerLike | None) -> str | None:
    """The name of its class. Raises ValueError for a text that names no known optimizer."""
    if isinstance(optimizer, str):
        for name in _KNOWN:
            if name.lower() == optimizer.lower():
                return name
        raise ValueError(
            f"optimizer: {optimizer!r}; expected the optimizer, its class, or one of the names "
            + ", ".join(_KNOWN)
        )
    if optimizer is None:
        return None
    return (optimizer if isinstance(optimizer, type) else type(optimizer)).__name__


def feels(kind: str, optimizer: OptimizerLike | None) -> str:
    """Whether the optimizer's path changes by a teleport along a group of this kind: "yes", "no",
    or "?" for an optimizer that is not known."""
    if kind in ("sign", "permutation"):
        return "no"
    name = optimizer_name(optimizer)
    if name in _FEELS_NOTHING:
        return "no"
    if name in _FEELS_SCALE_AND_GL:
        return "no" if kind == "orthogonal" else "yes"
    if name in _FEELS_NO_SCALE:
        return "no" if kind == "scale" else "yes"
    if name in _FEELS_ORTHOGONAL_TOO:
        return "yes"
    return "?"


def _count(number: int) -> str:
    if number < 100_000:
        return str(number)
    return f"{number / 1e3:.0f}k" if number < 10_000_000 else f"{number / 1e6:.1f}M"


def _merged(groups: Sequence[Group]) -> list[tuple[Group, int, float]]:
    """Groups that differ in their ranges only (heads of one layer) as one row: group, how many,
    largest residual."""
    rows: dict[tuple[object, ...], list[Group]] = {}
    for group in groups:
        key = (group.kind, group.size, group.where, group.note)
        rows.setdefault(key, []).append(group)
    return [(row[0], len(row), max(g.residual for g in row)) for row in rows.values()]


def format_table(
    groups: Sequence[Group],
    refused: Sequence[Refusal],
    optimizer: OptimizerLike | None,
    *,
    proved: bool = True,
) -> str:
    name = optimizer_name(optimizer)
    rows = [("group", "where", "dim", f"feels ({name})" if name else "feels", "proof", "note")]
    for group, count, residual in _merged(groups):
        rows.append(
            (
                group.name + (f" x{count}" if count > 1 else ""),
                group.where,
                _count(count * group.dimension),
                feels(group.kind, optimizer),
                f"{residual:.1e}" if proved else "none",
                group.note,
            )
        )
    for refusal in refused:
        proof = "-" if refusal.residual is None else f"{refusal.residual:.1e}"
        rows.append(("none", refusal.where, "-", "-", proof, f"{refusal.name}: {refusal.reason}"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    if any(feels(group.kind, optimizer) == "?" for group in groups):
        unknown = f"Symport does not know {name}" if name else "pass optimizer= to know"
        lines.append(f"feels ?: {unknown}")
    return "\n".join(line.rstrip() for line in lines)
