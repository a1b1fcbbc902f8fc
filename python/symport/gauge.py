# SPDX-License-Identifier: MIT
"""Symmetries as lists: groups, and the axes of named tensors that they act on.

A *slot* is a range of one axis of one tensor; a *group* with its slots is a symmetry. The same
list, as JSON, is a gauge file, which `symport teleport --gauge` and `symport.torch` read and write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

Kind = Literal["scale", "gl", "orthogonal", "sign", "permutation"]

#: A gauge file, its content, or the groups themselves.
GaugeLike: TypeAlias = "str | PathLike[str] | Mapping[str, Any] | Iterable[Group]"


@dataclass(frozen=True)
class Slot:
    """The entries `start` to `stop` of an axis of a named tensor.

    `rho` says how the group acts there: for scale and sign the exponent c of s**c, for gl and
    orthogonal "g" or "g^-T", for permutation "g". Each coordinate of the group is repeated
    `repeat` times in a row: the pixels of a channel after an image is flattened.
    """

    tensor: str
    axis: int
    rho: float | str = 1.0
    start: int = 0
    stop: int | None = None  #: None: the group's size times `repeat` after `start`
    repeat: int = 1
    #: The action is on P + shift: the eps of a batch norm beside its running variance.
    shift: float = 0.0


@dataclass(frozen=True)
class Group:
    """A group and the slots where it acts: s or g has `size` rows."""

    kind: Kind
    size: int
    slots: list[Slot] = field(default_factory=list)


def _slot_entry(slot: Any, size: int) -> dict[str, Any]:
    stop = slot.start + size * slot.repeat if slot.stop is None else slot.stop
    entry: dict[str, Any] = {
        "tensor": slot.tensor,
        "axis": slot.axis,
        "start": slot.start,
        "stop": stop,
        "repeat": slot.repeat,
        "rho": slot.rho,
    }
    if getattr(slot, "shift", 0.0):
        entry["shift"] = slot.shift
    return entry


def gauge_text(gauge: GaugeLike) -> str:
    """The gauge as the text of its file."""
    if isinstance(gauge, (str, PathLike)):
        return Path(gauge).read_text(encoding="utf-8")
    if isinstance(gauge, Mapping):
        return json.dumps(gauge)
    groups = getattr(gauge, "groups", gauge)
    listed = [
        {
            "kind": group.kind,
            "size": group.size,
            "slots": [_slot_entry(slot, group.size) for slot in group.slots],
        }
        for group in groups
    ]
    return json.dumps({"version": 1, "groups": listed})


def write_gauge(path: str | PathLike[str], groups: Iterable[Group]) -> None:
    """Writes a gauge file."""
    Path(path).write_text(gauge_text(groups) + "\n", encoding="utf-8")


#: Which group the hidden units of a perceptron have, by its activation.
_UNIT_GROUPS: dict[str, Kind] = {"relu": "scale", "leaky_relu": "scale", "linear": "gl"}


def hidden_unit_groups(weights: Mapping[str, Any], activation: str) -> list[Group]:
    """The scalings (relu, leaky_relu) or GL (linear) of the hidden layers of W1, b1, W2, ..."""
    kind = _UNIT_GROUPS.get(activation.split(":")[0])
    if kind is None:
        raise ValueError(
            f"activation: found '{activation}', allowed is one whose hidden units can be "
            f"scaled: {', '.join(_UNIT_GROUPS)}"
        )
    direct, dual = ("g", "g^-T") if kind == "gl" else (1.0, -1.0)
    groups = []
    layer = 1
    while f"W{layer + 1}" in weights:
        size = int(weights[f"W{layer}"].shape[0])
        slots = [Slot(f"W{layer}", 0, direct), Slot(f"W{layer + 1}", 1, dual)]
        if f"b{layer}" in weights:
            slots.insert(1, Slot(f"b{layer}", 0, direct))
        groups.append(Group(kind, size, slots))
        layer += 1
    return groups
