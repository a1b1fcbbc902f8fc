# SPDX-License-Identifier: MIT
"""Short forms for the tests of find_symmetries."""

from torch import nn

from symport.torch import Group, Symmetries, find_symmetries


def find(model: nn.Module, **options) -> Symmetries:
    return find_symmetries(model, model.example(), **options)


def summary(symmetries: Symmetries) -> list[tuple[str, str, int]]:
    """(group, where, how many), in order."""
    rows: dict[tuple[str, str], int] = {}
    for group in symmetries.groups:
        key = (group.name, group.where)
        rows[key] = rows.get(key, 0) + 1
    return [(name, where, count) for (name, where), count in rows.items()]


def slots_of(symmetries: Symmetries, tensor: str, axis: int) -> list[Group]:
    return [
        group
        for group in symmetries.groups
        if any(slot.tensor == tensor and slot.axis == axis for slot in group.slots)
    ]
