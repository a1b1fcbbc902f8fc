# SPDX-License-Identifier: MIT
"""What moves with an element: parameters, buffers, gradients, optimizer state, copies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from .action import move_slot
from .optimizers import OptimizerOrSeveral, check_optimizer, members, together
from .round_trip.optimizer import RoundTrip
from .slots import Representation, Slot, check_slot, transformed
from .snapshot import Snapshot
from .structure import wrong_mode
from .symmetries import Group, Symmetries, unwrap
from .transport import (
    LINEAR_KINDS,
    Refused,
    StateEntry,
    mixes_weights_into_gradients,
    state_entries,
)

#: One tensor per group; None for a group that stays.
Elements = list[Tensor | None]

HALF = (torch.float16, torch.bfloat16)


class Movables:
    """The tensors of one model and its optimizers, by the names that the slots use.

    optimizer: for trial steps; one, several as one, a RoundTrip, or None.
    optimizers: those that keep the state.
    """

    def __init__(
        self,
        symmetries: Symmetries,
        optimizer: OptimizerOrSeveral | None,
        model: nn.Module | None = None,
    ) -> None:
        if not isinstance(symmetries, Symmetries):
            raise TypeError(
                f"symmetries: found {type(symmetries).__name__}, expected Symmetries, as"
                " find_symmetries(model, inputs) returns them"
            )
        if optimizer is not None:
            check_optimizer(optimizer)
        self.model = unwrap(symmetries.model)
        if model is not None and unwrap(model) is not self.model:
            raise ValueError(
                "symmetries belong to another model object: call find_symmetries for this one"
            )
        self.symmetries = symmetries
        self.groups: Sequence[Group] = symmetries.groups
        self.optimizers = members(optimizer)
        self.optimizer = together(optimizer)
        self.round_trip = self.optimizer if isinstance(self.optimizer, RoundTrip) else None
        self.tensors = _named_tensors(self.model)
        self.slots: dict[str, list[tuple[int, Slot]]] = {}
        for i, group in enumerate(self.groups):
            for slot in group.slots:
                self.slots.setdefault(slot.tensor, []).append((i, slot))
        # A tied parameter goes by the name that the slots use.
        self.names: dict[Tensor, str] = {}
        for name, p in self.model.named_parameters(remove_duplicate=False):
            if p not in self.names or name in self.slots:
                self.names[p] = name
        self._entries: list[StateEntry] = []
        self._copies: list[dict[str, Tensor]] = []
        # The elements that were moved last, with the inverses that were computed for them.
        self._last: tuple[Elements, list[Representation | None]] | None = None

    @property
    def parameters(self) -> dict[str, Tensor]:
        return {n: t for n, t in self.tensors.items() if isinstance(t, nn.Parameter)}

    @property
    def buffers(self) -> dict[str, Tensor]:
        """Those that the groups touch."""
        parameters = self.parameters
        return {n: self.tensors[n] for n in self.slots if n not in parameters}

    @property
    def half(self) -> bool:
        return any(self.tensors[n].dtype in HALF for n in self.slots)

    @property
    def double(self) -> bool:
        return all(self.tensors[n].dtype == torch.float64 for n in self.slots)

    def also(self, other: nn.Module | Mapping[str, Tensor]) -> None:
        """Move a copy of the weights along: an average, slow weights, a second model."""
        if isinstance(other, torch.optim.swa_utils.AveragedModel):
            other = other.module
        copy = _named_tensors(unwrap(other)) if isinstance(other, nn.Module) else dict(other)
        parameters = self.parameters
        for name in self.slots:
            mine, theirs = self.tensors.get(name), copy.get(name)
            if theirs is None and name in parameters:
                raise ValueError(f"also: the copy has no tensor {name!r}")
            if theirs is not None and mine is not None and theirs.shape != mine.shape:
                raise ValueError(
                    f"also: {name} has shape {tuple(theirs.shape)} in the copy and "
                    f"{tuple(mine.shape)} in the model"
                )
        self._copies.append(copy)

    def wrong_mode(self, group: Group) -> str:
        """Why the group is no symmetry in the mode that the model is in; empty if it is one."""
        proved_for = self.symmetries.proved_for
        return wrong_mode(group, self.model, None if proved_for is None else proved_for.modes)

    def check(self, steps: bool = False) -> None:
        """Raises `Refused` if a tensor cannot be moved or, with `steps`, a parameter cannot be
        stepped, and ValueError if the model is not the one of the proof; finds the optimizer's
        state."""
        for name, uses in self.slots.items():
            tensor = self.tensors.get(name)
            if tensor is None:
                raise Refused(f"{name}: the model has no such parameter or buffer")
            if type(tensor).__name__ == "DTensor":
                raise Refused(
                    f"{name} is sharded (DTensor); only whole tensors can be moved: teleport before"
                    " fully_shard"
                )
            if tensor.is_inference():
                raise Refused(
                    f"{name} was made in torch.inference_mode() and cannot be changed in place"
                )
            if tensor.is_meta:
                raise Refused(f"{name} is on the meta device: it has no values")
            if tensor.is_quantized or not tensor.is_floating_point():
                raise Refused(f"{name} is {tensor.dtype}; only floating-point tensors can be moved")
            for i, slot in uses:
                try:
                    check_slot(slot, self.groups[i].kind, self.groups[i].size, tuple(tensor.shape))
                except ValueError as error:
                    raise Refused(str(error)) from None
        written = set(self.slots) | (set(self.parameters) if steps else set())
        shared = repeating(self.tensors, written) or overlapping(self.tensors, set(self.slots))
        if shared:
            raise Refused(shared)
        self.symmetries.check_model(self.model)
        self._entries = [e for o in self.optimizers for e in state_entries(o, self.names)]

    def gradients(self) -> dict[str, Tensor] | None:
        """`.grad` by name; None if there is none at all."""
        found = {n: p.grad.detach() for p, n in self.names.items() if p.grad is not None}
        for name, gradient in found.items():
            if gradient.is_sparse and name in self.slots:
                raise Refused(f"the gradient of {name} is sparse")
        return found or None

    def snapshot(self, *, everything: bool) -> Snapshot:
        """Of all tensors (before trial steps), or of those that the groups touch."""
        tensors = [t for n, t in self.tensors.items() if everything or n in self.slots]
        if self.round_trip is None:
            tensors += [e.tensor for e in self._entries if everything or e.name in self.slots]
        for copy in self._copies:
            tensors += [t for n, t in copy.items() if n in self.slots]
        unique = list({id(t): t for t in tensors}.values())
        parameters = [p for p, n in self.names.items() if everything or n in self.slots]
        return Snapshot(unique, parameters)

    def move(self, elements: Elements) -> None:
        """Moves everything but the state within a RoundTrip, which `settle` moves."""
        by = self._representations(elements)
        for name in self.slots:
            tensor = self.tensors[name]
            self._move(name, tensor, "point", by)
            if tensor.grad is not None:
                self._move(name, tensor.grad, "cotangent", by)
        if self.round_trip is None:
            self._move_state(by)
        for copy in self._copies:
            for name in self.slots:
                if name in copy:
                    self._move(name, copy[name], "point", by)

    def settle(self, elements: Elements) -> None:
        """The last part of a move that will not be taken back: the state within a RoundTrip leaves
        the gauges, which are made of inputs that layers are given no longer, and moves."""
        if self.round_trip is None:
            return
        by = self._representations(elements)
        self.round_trip.home()
        self._move_state(by)
        for m in self.round_trip._matrices():
            buffer = self.round_trip._decays[m.name].buffer  # decayed weights, never in a gauge
            if buffer is not None and m.parameter in self.names:
                self._move(self.names[m.parameter], buffer, "point", by)

    def _move_state(self, by: Sequence[Representation | None]) -> None:
        for entry in self._entries:
            self._move(entry.name, entry.tensor, entry.kind, by)

    def moved_gradients(
        self, gradients: Mapping[str, Tensor], elements: Elements
    ) -> dict[str, Tensor]:
        by = self._representations(elements)
        moved = dict(gradients)
        for name, gradient in gradients.items():
            if any(by[i] is not None for i, _ in self.slots.get(name, ())):
                moved[name] = self._moved(name, gradient, "cotangent", by)
        return moved

    def rounding(self, elements: Elements, before: Snapshot) -> float:
        """What rounding the moved tensors did, in the old gauge: the largest |W'' - W| / |W| with
        W'' the exact inverse of the move, applied to the stored values. The model computes now
        what it computed before with W'' in place of W. 0: every bit comes back. In double precision
        the way back rounds as much as the way there, so that the change counts twice."""
        back = self._representations(
            [
                None if e is None else g.inverse(e)
                for g, e in zip(self.groups, elements, strict=True)
            ]
        )
        worst = 0.0
        for name, uses in self.slots.items():
            if any(back[i] is not None for i, _ in uses):
                old = before.value(self.tensors[name])
                if torch.equal(self._moved(name, self.tensors[name].detach(), "point", back), old):
                    continue
                returned = self._moved(name, self.tensors[name].detach().double(), "point", back)
                size = torch.linalg.vector_norm(old, dtype=torch.float64)
                change = torch.linalg.vector_norm(returned - old.double()) / size
                change = 2 * change if old.dtype == torch.float64 else change
                worst = max(worst, float(torch.nan_to_num(change, nan=math.inf)))
        return worst

    def state_notes(self, elements: Elements) -> dict[str, str]:
        """How each key of the optimizer's state followed."""
        dense = {
            s.tensor
            for g, e in zip(self.groups, elements, strict=True)
            if e is not None and g.kind in ("gl", "orthogonal")
            for s in g.slots
        }
        mixing = [o for o in self.optimizers if mixes_weights_into_gradients(o)]
        mixed = {p for o in mixing for g in o.param_groups for p in g["params"]}
        in_gauge = {} if self.round_trip is None else self.round_trip.stepped
        notes: dict[str, str] = {}
        for entry in self._entries:
            if entry.name not in self.slots:
                continue
            linear = entry.kind in LINEAR_KINDS
            how = "exact"
            if entry.name in dense and entry.kind == "normalised":
                how = "kept"
            elif entry.name in dense and not linear:
                how = "approximate: entries that a matrix mixes are taken as uncorrelated"
            elif entry.name in in_gauge and not linear:
                how = "approximate: does not follow the gauges of the RoundTrip"
            elif self.tensors[entry.name] in mixed:
                how = "approximate: weight decay adds weights to the gradients"
            if notes.get(entry.key, "exact") == "exact":
                notes[entry.key] = how
        return notes

    def _representations(self, elements: Elements) -> list[Representation | None]:
        if self._last is None or self._last[0] is not elements:
            by = [
                None if e is None else Representation(g.kind, e)
                for g, e in zip(self.groups, elements, strict=True)
            ]
            self._last = (elements, by)
        return self._last[1]

    def _moved(
        self, name: str, tensor: Tensor, state: str, by: Sequence[Representation | None]
    ) -> Tensor:
        """A moved copy."""
        uses = [(by[i], slot) for i, slot in self.slots[name] if by[i] is not None]
        if all(slot.stop - slot.start == tensor.shape[slot.axis] for _, slot in uses):
            for representation, slot in uses:
                tensor = transformed(slot, tensor, representation, state)
            return tensor
        copy = tensor.clone()
        self._move(name, copy, state, by)
        return copy

    def _move(
        self, name: str, tensor: Tensor, state: str, by: Sequence[Representation | None]
    ) -> None:
        for i, slot in self.slots.get(name, ()):
            representation = by[i]
            if representation is not None:
                move_slot(slot, tensor, representation, state)


def repeating(tensors: Mapping[str, Tensor], written: set[str]) -> str:
    """Why one of the tensors `written` cannot be written to: two of its entries are one in memory.
    Empty if all can."""
    for name, tensor in tensors.items():
        if name in written and not tensor.is_meta and 0 < _extent(tensor) < tensor.numel():
            return f"{name} holds some of its entries more than once (an expanded view): clone it"
    return ""


def _extent(tensor: Tensor) -> int:
    """From the first entry to the last one in memory, of a tensor that has any."""
    return 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))


def overlapping(tensors: Mapping[str, Tensor], moved: set[str]) -> str:
    """Why a tensor of `moved` cannot be moved alone: its memory is also that of another tensor.
    Empty if none is. One tensor under several names is one tensor; views that only lie side by side
    in one storage are not shared."""
    unique = {id(t): (name, t) for name, t in tensors.items() if t.numel() and not t.is_meta}
    spans = []
    for name, tensor in unique.values():
        start = tensor.data_ptr()
        spans.append((start, start + _extent(tensor) * tensor.element_size(), name))
    spans.sort()
    end, owner = 0, ""
    for start, stop, name in spans:
        if start < end and (name in moved or owner in moved):
            return f"{owner} and {name} share memory: clone one of them"
        if stop > end:
            end, owner = stop, name
    return ""


def _named_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by every name they have."""
    tensors: dict[str, Tensor] = dict(model.named_buffers(remove_duplicate=False))
    tensors.update(model.named_parameters(remove_duplicate=False))
    return tensors
