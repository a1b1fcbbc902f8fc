# SPDX-License-Identifier: MIT
"""Symmetries of a small configuration carried over to a large model of the same code.

What is compared: the modules by name with their settings, except sizes; the ties; the operations
that each module runs. What is computed: the ranges of the slots, from the widths. What is tested:
random elements on the large model, in double precision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from torch import Tensor, nn

from ._find_input import frozen_parameters
from .probe import Probe
from .proof import FINITE_TOLERANCE, failing, finite_change
from .prover import HALF, HALF_REASON, SAMPLES
from .slots import Slot, where_of
from .structure import ProvedFor, depends_on_mode
from .symmetries import Group, Refusal, Symmetries, unwrap

NOTE = "proved on a smaller model"


class Layout:
    """Which module of the small model stands for each of the large one. Lists of layers may have
    different lengths: the first layer stands for the first, the last for the last."""

    def __init__(self, small: Mapping[str, str], large: Mapping[str, str]) -> None:
        self.roles = {"": ""}
        #: Lists of layers of different lengths, by their path in the large model.
        self.lists: dict[str, tuple[int, int]] = {}
        for path in large:
            if path:
                self.roles[path] = self._role(path, small, large)
        missing = [path for path in small if path not in set(self.roles.values())]
        missing = [p for p in missing if not any(self._in_list(p, lp) for lp in self.lists)]
        if missing:
            raise ValueError(f"{missing[0]}, {small[missing[0]]}, is missing in the large model")

    def _role(self, path: str, small: Mapping[str, str], large: Mapping[str, str]) -> str:
        parent, _, name = path.rpartition(".")
        above = self.roles[parent]
        here, there = _children(large, parent), _children(small, above)
        if here != there and all(_is_list(*of) for of in ((large, parent), (small, above))):
            self.lists.setdefault(parent, (len(there), len(here)))
            if len(there) < 2:
                raise ValueError(
                    f"{parent or 'the model'} has {len(here)} layers, and the small model has one:"
                    " search a small model of at least two layers, which show what repeats"
                )
            last = len(there) - 1
            name = str(last if int(name) == len(here) - 1 else min(int(name), last - 1))
        role = f"{above}.{name}" if above else name
        if role not in small:
            raise ValueError(f"{path}, {large[path]}, is missing in the small model")
        return role

    def _in_list(self, path: str, large_list: str) -> bool:
        return path.startswith(f"{self.roles[large_list]}." if large_list else "")

    def tensor(self, name: str) -> str:
        """The tensor of the small model in the place of one of the large one."""
        path, _, own = name.rpartition(".")
        role = self.roles[path]
        return f"{role}.{own}" if role else own


def _children(paths: Mapping[str, str], parent: str) -> list[str]:
    prefix = f"{parent}." if parent else ""
    names = [p[len(prefix) :] for p in paths if p and p.startswith(prefix)]
    return [name for name in names if name and "." not in name]


def _is_list(structure: Mapping[str, str], parent: str) -> bool:
    """Whether the children are numbered and all of one kind."""
    names = _children(structure, parent)
    prefix = f"{parent}." if parent else ""
    kinds = {_without_sizes(structure[prefix + name]) for name in names}
    return names == [str(i) for i in range(len(names))] and len(kinds) == 1


def compared(like: Symmetries, model: nn.Module, found: ProvedFor) -> Layout:
    """The layout; raises ValueError where the models are not of the same code, by name."""
    proved = like.proved_for
    assert proved is not None
    layout = Layout(proved.structure, found.structure)
    for path, role in layout.roles.items():
        here, there = found.structure[path], proved.structure[role]
        tied = re.sub(r"tied to ([^,)]+)", lambda m: f"tied to {layout.tensor(m[1])}", here)
        if _without_sizes(tied) != _without_sizes(there):
            raise ValueError(f"{path or 'the model'} is {here}, and in the small model {there}")
        if depends_on_mode(model.get_submodule(path)) and found.modes[path] != proved.modes[role]:
            mode = "train" if found.modes[path] else "eval"
            raise ValueError(f"{path or 'the model'} is in {mode} mode, unlike in the small model")
        here, there = found.operations.get(path, ()), proved.operations.get(role, ())
        if here != there:
            more = [op for op in here if here.count(op) > there.count(op)]
            less = [op for op in there if there.count(op) > here.count(op)]
            what = f"runs {more[0]}" if more else f"does not run {less[0]}" if less else "differs"
            raise ValueError(
                f"{path or 'the model'} {what}, other than in the small model: the models are not"
                " of the same code, or their example inputs differ in more than widths"
            )
    return layout


def _without_sizes(text: str) -> str:
    """Integers and shapes as #; other numbers and texts stay."""
    return re.sub(
        r"[^\s,()=\[\]]+",
        lambda m: re.sub(r"\d+", "#", m[0]) if re.fullmatch(r"\d+(x\d+)*", m[0]) else m[0],
        text,
    )


# Depth --------------------------------------------------------------------------------------------


def repeated(groups: Sequence[Group], layers: str, small: int, large: int) -> list[Group]:
    """The groups with those of one layer, or of all layers, continued from a list of `small` layers
    to one of `large`; raises ValueError where the layers have different groups."""
    name = layers or "the model"
    prefix = f"{layers}." if layers else ""

    def at(slot: Slot) -> str:
        rest = slot.tensor[len(prefix) :] if slot.tensor.startswith(prefix) else ""
        return rest.partition(".")[0] if rest.partition(".")[0].isdigit() else ""

    def moved(slot: Slot, i: int | str) -> Slot:
        if not at(slot):
            return slot
        return replace(slot, tensor=f"{prefix}{i}{slot.tensor[len(prefix) + len(at(slot)) :]}")

    def pattern(slots: Sequence[Slot]) -> tuple[Slot, ...]:
        return tuple(moved(slot, "*") for slot in slots)

    own: dict[str, list[Group]] = {str(i): [] for i in range(small)}
    for group in groups:
        layer = {at(slot) for slot in group.slots} - {""}
        if len(layer) == 1 and small > 1:
            own[layer.pop()].append(group)
    shapes = [[(g.kind, g.size, pattern(g.slots)) for g in of_layer] for of_layer in own.values()]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError(f"layers 0 and {i} of {name} have different groups in the small model")
    result: list[Group] = []
    done = False
    for group in groups:
        layer = {at(slot) for slot in group.slots} - {""}
        if not layer:
            result.append(group)
        elif len(layer) == 1:
            if not done:
                done = True
                result += [
                    replace(g, slots=tuple(moved(slot, i) for slot in g.slots))
                    for i in range(large)
                    for g in own["0"]
                ]
        else:
            parts = {i: [s for s in group.slots if at(s) == str(i)] for i in range(small)}
            if any(pattern(part) != pattern(parts[0]) for part in parts.values()):
                raise ValueError(
                    f"{group.name} of {group.where} joins some layers of {name} and not all alike:"
                    " how it goes on in more layers is not known"
                )
            slots = [s for s in group.slots if not at(s)]
            slots += [moved(slot, i) for i in range(large) for slot in parts[0]]
            result.append(replace(group, slots=tuple(slots)))
    return result


# Widths -------------------------------------------------------------------------------------------


def families(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Groups that follow one another on the same axes: heads."""

    def signature(group: Group) -> tuple[object, ...]:
        slots = [(s.tensor, s.axis, s.repeat, s.rho, s.shift) for s in group.slots]
        return (group.kind, group.size, tuple(slots))

    for _, family in groupby(groups, signature):
        yield list(family)


def resized(
    family: Sequence[Group], small: Mapping[str, Tensor], large: Mapping[str, Tensor]
) -> Iterator[list[Group]]:
    """The family at the widths of the large model, the largest groups first; there is a choice
    where it has several members, whose number and size are known by their product only.

    A slot of `length` entries repeats K times with a stride, within one of several equal parts of
    its axis (q, k and v): axis = parts * K * stride, and the k-th member starts at
    part * K * stride + offset + k * stride. Stride and offset are multiples of the length.
    """
    first, count = family[0], len(family)
    pieces = []
    for i, slot in enumerate(first.slots):
        length = slot.stop - slot.start
        starts = [group.slots[i].start for group in family]
        stride = starts[1] - starts[0] if count > 1 else length
        axis, wanted = small[slot.tensor].shape[slot.axis], large[slot.tensor].shape[slot.axis]
        even = stride > 0 and starts == list(range(starts[0], starts[0] + stride * count, stride))
        if not even or axis % (count * stride) or stride % length or starts[0] % length:
            if all(small[s.tensor].shape == large[s.tensor].shape for s in first.slots):
                yield list(family)
                return
            raise ValueError(
                f"{slot.tensor}: how the range [{slot.start}, {slot.stop}) of {axis} scales with"
                " the width is not known; search the large model itself"
            )
        part, offset = divmod(starts[0], count * stride)
        rows, rest = divmod(wanted, axis // (count * stride) * (stride // length))
        if rest:
            raise ValueError(
                f"{slot.tensor}: axis {slot.axis} has length {wanted}, which is not divided as the"
                f" {axis} of the small model"
            )
        pieces.append((slot, part, offset // length, stride // length, rows))
    # rows = number of members * size * repeat
    exact = [(rows, slot) for slot, *_, rows in pieces if slot.repeat == 1]
    total, witness = exact[0] if exact else (pieces[0][4] // pieces[0][0].repeat, pieces[0][0])
    for slot, *_, rows in pieces:
        if rows % total or (slot.repeat == 1 and rows != total):
            raise ValueError(
                f"{slot.tensor} and {witness.tensor} have widths that do not scale alike:"
                f" {rows} and {total} where the small model has {count * slot.size * slot.repeat}"
                f" and {count * first.size}"
            )
    for members in range(1, total + 1) if count > 1 else (1,):
        size = total // members
        if total % members or (first.kind == "gl" and size == 1 < first.size):
            continue

        def at(k: int, members: int = members, size: int = size) -> Iterator[Slot]:
            for slot, part, offset, step, rows in pieces:
                length = size * (rows // total)
                start = length * ((part * members + k) * step + offset)
                repeat = rows // total
                yield replace(slot, start=start, stop=start + length, repeat=repeat)

        yield [replace(first, size=size, slots=tuple(at(k))) for k in range(members)]


# Together -----------------------------------------------------------------------------------------


def carried(
    like: Symmetries, probe: Probe, layout: Layout, model: nn.Module
) -> tuple[list[Group], list[Refusal], float]:
    """The groups on the large model, those that may not move there, and the largest change of its
    outputs by random elements."""
    groups = list(like.groups)
    for layers, (small, large) in layout.lists.items():
        groups = repeated(groups, layers, small, large)
    named = {**probe.parameters, **probe.buffers}
    small_named = like.tensors()
    for group in groups:
        for slot in group.slots:
            if slot.tensor not in named:
                raise ValueError(f"{slot.tensor} is missing in the large model")
    standing = {name: small_named[layout.tensor(name)] for name in named}
    chosen: dict[object, int] = {}  # the number of members, by the family's role
    result: list[Group] = []
    probe.randomise(*SAMPLES[0])
    for family in families(groups):
        axes = [(re.sub(r"\d+", "*", s.tensor), s.axis) for s in family[0].slots]
        shapes = [(standing[s.tensor].shape, named[s.tensor].shape) for s in family[0].slots]
        role = repr((family[0].kind, len(family), axes, shapes))  # the same in every layer
        options = list(resized(family, standing, named))
        if len(options) > 1 and role not in chosen:
            tensor = family[0].slots[0].tensor
            told = set(_counts(layout, tensor, len(family), unwrap(like.model), model))
            options.sort(key=lambda option: len(option) not in told)
            holding = (o for o in options if finite_change(probe, o[:1], 1) <= FINITE_TOLERANCE)
            chosen[role] = len(next(holding, options[-1]))
        result += next((o for o in options if len(o) == chosen.get(role)), options[0])
    result = [
        replace(g, where=where_of(g.slots), note="; ".join(filter(None, (g.note, NOTE))))
        for g in result
    ]
    refused = [Refusal(g.name, g.where, why) for g in result if (why := _forbidden(g, model))]
    result = [g for g in result if not _forbidden(g, model)]
    drift = 0.0
    for seed, gain in (*SAMPLES, (0, 0.0)):
        if seed > 1:
            probe.randomise(seed, gain)
        elif not seed:
            probe.original()
        bad, change = failing(probe, result, seed + 10)
        drift = max(drift, change)
        if bad:
            number, error = next(iter(bad.items()))
            raise ValueError(
                f"{result[number].name} of {result[number].where} is a symmetry of the small model"
                f" and none of this one: a random element changes the outputs by {error:.1e}"
            )
    return result, refused, drift


def _counts(
    layout: Layout, tensor: str, count: int, small: nn.Module, large: nn.Module
) -> Iterator[int]:
    """What the large model has in the place of attributes such as `heads`, which are `count` in the
    small one: a guess of the number of members, to be tested first."""
    path = tensor
    while path:
        path = path.rpartition(".")[0]
        theirs = vars(small.get_submodule(layout.roles[path]))
        mine = vars(large.get_submodule(path))
        yield from (
            mine[key]
            for key, value in theirs.items()
            if type(value) is int and value == count and type(mine.get(key)) is int
        )


def _forbidden(group: Group, model: nn.Module) -> str:
    """Why a group may not move on this model, whatever its symmetries are."""
    frozen = frozen_parameters(model)
    parameters = dict(model.named_parameters())
    for slot in group.slots:
        if slot.tensor in frozen:
            return f"{slot.tensor} is {frozen[slot.tensor]}"
        dense = group.kind in ("gl", "orthogonal")
        if dense and slot.tensor in parameters and parameters[slot.tensor].dtype in HALF:
            return HALF_REASON
    return ""
