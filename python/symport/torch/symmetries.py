# SPDX-License-Identifier: MIT
"""The symmetries of a model: groups with their slots, the action on parameters and optimizer state,
gauge files, and the printed table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .slots import KINDS, STATES, Representation, Slot, check_element, check_slot, transformed
from .structure import ProvedFor, wrong_mode
from .table import OptimizerLike, format_table, optimizer_name

FILE_VERSION = 1

Element = list[Tensor]
"""One tensor per group, float64 (permutations: int64) on the CPU: a vector for scale and sign, a
matrix for gl and orthogonal, a vector of indices for permutation."""


@dataclass(frozen=True)
class Group:
    """One symmetry group with the slots on which it acts.

    dimension: of the Lie group (0 for sign and permutation).
    residual: Noether residual of the proof, relative, in double precision.
    mode: "train" or "eval" where the group holds in that mode of the model only, else empty.
    """

    kind: str
    size: int
    slots: tuple[Slot, ...]
    residual: float = 0.0
    note: str = ""
    where: str = ""
    mode: str = ""

    @property
    def dimension(self) -> int:
        return {
            "scale": self.size,
            "gl": self.size**2,
            "orthogonal": self.size * (self.size - 1) // 2,
        }.get(self.kind, 0)

    @property
    def name(self) -> str:
        """R+^64, GL(16), O(512), {1,-1}^8, S(8)."""
        pattern = {
            "scale": "R+^{}",
            "gl": "GL({})",
            "orthogonal": "O({})",
            "sign": "{{1,-1}}^{}",
            "permutation": "S({})",
        }[self.kind]
        return pattern.format(self.size)

    @property
    def tensors(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(slot.tensor for slot in self.slots))

    def identity(self) -> Tensor:
        if self.kind == "permutation":
            return torch.arange(self.size)
        if self.kind in ("gl", "orthogonal"):
            return torch.eye(self.size, dtype=torch.float64)
        return torch.ones(self.size, dtype=torch.float64)

    def random_element(self, generator: torch.Generator, size: float) -> Tensor:
        """exp(size * standard normal numbers in the Lie algebra); the discrete groups have none: a
        random sign or permutation for size > 0."""
        n = self.size
        if self.kind == "permutation":
            return torch.randperm(n, generator=generator) if size else self.identity()
        if self.kind == "sign":
            bits = torch.randint(2, (n,), generator=generator).double()
            return 1 - 2 * bits if size else self.identity()
        if self.kind == "scale":
            return torch.exp(size * torch.randn(n, generator=generator, dtype=torch.float64))
        algebra = size * torch.randn(n, n, generator=generator, dtype=torch.float64)
        if self.kind == "orthogonal":
            upper = algebra.triu(1)
            algebra = upper - upper.T
        return torch.linalg.matrix_exp(algebra)

    def inverse(self, element: Tensor) -> Tensor:
        if self.kind == "permutation":
            return torch.argsort(element)
        if self.kind == "gl":
            return torch.linalg.inv(element)
        if self.kind == "orthogonal":
            return element.T.contiguous()
        return 1 / element

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "size": self.size,
            "dimension": self.dimension,
            "residual": self.residual,
            "note": self.note,
            "where": self.where,
            **({"mode": self.mode} if self.mode else {}),
            "slots": [slot.to_json() for slot in self.slots],
        }


@dataclass(frozen=True)
class Refusal:
    """A symmetry that was looked for and is not there, or may not be used, and why.

    residual: Noether residual if it was measured.
    """

    name: str
    where: str
    reason: str
    residual: float | None = None


def unwrap(model: nn.Module) -> nn.Module:
    """The user's own module inside torch.compile and DistributedDataParallel."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model: found {type(model).__name__}, expected a torch.nn.Module")
    while True:
        if hasattr(model, "_orig_mod"):
            model = model._orig_mod
        elif isinstance(model, nn.parallel.DistributedDataParallel):
            model = model.module
        else:
            return model


class Symmetries:
    """The symmetries of a model; `print` gives the table.

    groups: each with kind, size, dimension, slots, residual, note, where, mode.
    refused: what was not found and why.
    drift: largest relative change of the output by a random finite element, in double precision
    (None without a proof).
    proved_for: the structure and the modes of the model for which the groups were proved; None for
    groups written by hand, and for those of a file that was loaded without example inputs.
    file: where they were loaded from without a proof.
    """

    def __init__(
        self,
        model: nn.Module,
        groups: Iterable[Group],
        refused: Iterable[Refusal] = (),
        optimizer: OptimizerLike | None = None,
        drift: float | None = None,
        proved_for: ProvedFor | None = None,
        file: str = "",
    ) -> None:
        self.model = model
        self.groups: list[Group] = list(groups)
        self.refused: list[Refusal] = list(refused)
        optimizer_name(optimizer)  # raises for names that are not known
        self.optimizer = optimizer
        self.drift = drift
        self.proved_for = proved_for
        self.file = file
        tensors = self.tensors()
        for number, group in enumerate(self.groups):
            if group.kind not in KINDS:
                raise ValueError(
                    f"group {number}: unknown kind {group.kind!r}, expected one of "
                    + ", ".join(KINDS)
                )
            if group.mode not in ("", "train", "eval"):
                raise ValueError(
                    f"group {number}: mode {group.mode!r}, expected 'train', 'eval' or ''"
                )
            if group.size < 1 or not group.slots:
                raise ValueError(f"group {number}: needs a positive size and at least one slot")
            for slot in group.slots:
                if slot.tensor not in tensors:
                    raise ValueError(
                        f"group {number}: the model has no parameter or buffer {slot.tensor!r}"
                    )
                check_slot(slot, group.kind, group.size, tuple(tensors[slot.tensor].shape))

    @property
    def dimension(self) -> int:
        return sum(group.dimension for group in self.groups)

    def tensors(self) -> dict[str, Tensor]:
        """Every parameter and buffer of the model by name; tied ones under each of their names."""
        model = unwrap(self.model)
        named: dict[str, Tensor] = dict(model.named_buffers(remove_duplicate=False))
        named.update(model.named_parameters(remove_duplicate=False))
        return named

    def check_model(self, model: nn.Module | None = None) -> None:
        """Raises ValueError if the model is no longer the one that the groups are proved for."""
        if self.proved_for is None:
            return
        change = self.proved_for.change(unwrap(self.model if model is None else model))
        if change:
            raise ValueError(
                f"the model is not the one that the symmetries were proved for ({change}): call"
                " find_symmetries again"
            )

    # Elements -----------------------------------------------------------------------------------

    def identity(self) -> Element:
        return [group.identity() for group in self.groups]

    def random_element(self, seed: int = 0, size: float = 1.0) -> Element:
        """One element of every group: the exponential of size times standard normal numbers in the
        Lie algebra."""
        generator = torch.Generator().manual_seed(seed)
        return [group.random_element(generator, size) for group in self.groups]

    def inverse(self, element: Sequence[Tensor]) -> Element:
        """act(element) followed by act(inverse(element)) is the identity up to rounding."""
        self._check(element)
        return [group.inverse(g) for group, g in zip(self.groups, element, strict=True)]

    def powers_of_two(self, element: Sequence[Tensor]) -> Element:
        """The nearest element made of powers of two, whose action is exact in binary numbers.

        Scales are rounded in the logarithm; of a gl element only the rounded lengths of its rows
        stay, as a diagonal matrix; orthogonal elements become the identity.
        """
        self._check(element)
        rounded = []
        for group, g in zip(self.groups, element, strict=True):
            if group.kind == "scale":
                g = torch.exp2(torch.log2(g).round())
            elif group.kind == "gl":
                g = torch.diag(torch.exp2(torch.log2(g.norm(dim=1)).round()))
            elif group.kind == "orthogonal":
                g = group.identity()
            rounded.append(g)
        return rounded

    def _check(self, element: Sequence[Tensor]) -> None:
        if len(element) != len(self.groups):
            raise ValueError(
                f"the element has {len(element)} entries, expected one for each of the"
                f" {len(self.groups)} groups"
            )
        for group, g in zip(self.groups, element, strict=True):
            check_element(group.kind, group.size, g)

    # Action -------------------------------------------------------------------------------------

    def act(self, element: Sequence[Tensor]) -> None:
        """Moves the model's parameters and buffers in place; their memory stays where it is.

        Raises ValueError, and changes nothing, if a group is proved for another model, or holds in
        the other mode only.
        """
        self._check(element)
        self.check_model()
        model = unwrap(self.model)
        for group, g in zip(self.groups, element, strict=True):
            if not group.mode or torch.equal(g, group.identity()):
                continue
            reason = wrong_mode(group, model, self.proved_for and self.proved_for.modes)
            if reason:
                raise ValueError(f"{group.name} of {group.where or group.tensors[0]} {reason}")
        self.transport(element, self.tensors(), "point")

    def transport(
        self, element: Sequence[Tensor], tensors: Mapping[str, Tensor | None], state: str
    ) -> None:
        """Moves tensors that belong to the model's parameters, in place, by their kind of state.

        tensors: name of the parameter -> tensor of the same shape (gradients, moments, copies of
        the weights); names without a tensor, or with None, are left out. state: one of STATES.
        Nothing is changed if any tensor does not fit. Tied names must hold the same tensor.
        """
        if state not in STATES:
            raise ValueError(f"unknown state {state!r}, expected one of " + ", ".join(STATES))
        self._check(element)
        shapes = {name: tensor.shape for name, tensor in self.tensors().items()}
        for group in self.groups:
            for slot in group.slots:
                tensor = tensors.get(slot.tensor)
                if tensor is not None and tensor.shape != shapes[slot.tensor]:
                    raise ValueError(
                        f"{slot.tensor}: shape {tuple(tensor.shape)} of the {state}, expected"
                        f" {tuple(shapes[slot.tensor])}"
                    )
        with torch.no_grad():
            for group, g in zip(self.groups, element, strict=True):
                representation = Representation(group.kind, g)
                for slot in group.slots:
                    tensor = tensors.get(slot.tensor)
                    if tensor is not None:
                        part = tensor.narrow(slot.axis, slot.start, slot.stop - slot.start)
                        part.copy_(transformed(slot, tensor, representation, state))

    # Files and text -----------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the gauge file: JSON with the groups and their slots."""
        document = {"version": FILE_VERSION, "groups": [group.to_json() for group in self.groups]}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        model: nn.Module,
        example_inputs: Any = None,
        optimizer: OptimizerLike | None = None,
        loss_fn: Callable[..., Tensor] | None = None,
    ) -> Symmetries:
        """Reads a gauge file; raises ValueError if it does not fit the model.

        example_inputs, loss_fn: as for `find_symmetries`. The groups are proved with them for this
        model, and those that are none of its symmetries are refused. Without them they are taken as
        they are: the names and shapes fit, and certificates say that nothing more is known.
        """
        with open(path, encoding="utf-8") as file:
            try:
                document = json.load(file)
            except json.JSONDecodeError as error:
                raise ValueError(f"{os.fspath(path)}: not JSON: {error}") from error
        try:
            if document["version"] != FILE_VERSION:
                raise ValueError(f"version {document['version']!r}, expected {FILE_VERSION}")
            groups = [
                Group(
                    kind=entry["kind"],
                    size=entry["size"],
                    slots=tuple(Slot(**slot) for slot in entry["slots"]),
                    residual=entry.get("residual", 0.0),
                    note=entry.get("note", ""),
                    where=entry.get("where", ""),
                    mode=entry.get("mode", ""),
                )
                for entry in document["groups"]
            ]
            loaded = cls(model, groups, optimizer=optimizer, file=os.fspath(path))
        except KeyError as error:
            raise ValueError(f"{os.fspath(path)}: gauge file without {error}") from error
        except (TypeError, ValueError) as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error
        if example_inputs is None:
            return loaded
        from .find import prove  # which needs this module

        return prove(model, groups, example_inputs, loss_fn, optimizer)

    def __str__(self) -> str:
        table = format_table(self.groups, self.refused, self.optimizer, proved=not self.file)
        if self.proved_for is not None and self.proved_for.departures:
            table += f"\nproved for {self.proved_for.data}"
        return table

    def __repr__(self) -> str:
        return (
            f"Symmetries({len(self.groups)} groups, dimension {self.dimension},"
            f" {len(self.refused)} refused)"
        )
