# SPDX-License-Identifier: MIT
"""The search: proposals are proved on randomised copies, and become groups or refusals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from .charges import Charges
from .interpret import OUTPUT
from .probe import Probe
from .proof import (
    NOETHER_TOLERANCE,
    Sample,
    blocks,
    failing,
    moves_nothing,
    part_of,
)
from .proposals import Proposal, propose
from .slots import Slot, where_of
from .solve import Solution
from .structure import depends_on_mode, moves_statistics
from .symmetries import Group, Refusal

_HALF = (torch.float16, torch.bfloat16)
# Reasons that only follow from another one, or that need no explanation.
_CONSEQUENCES = (OUTPUT, "sum over", "rows chosen", "slope of", "convolution over")


class Search:
    """Collects proved groups and refusals."""

    def __init__(self, probe: Probe, model: nn.Module) -> None:
        self._probe = probe
        self._half = {n for n, p in model.named_parameters() if p.dtype in _HALF}
        self._samples: list[Sample] | None = None
        self.groups: list[Group] = []
        self.refused: list[Refusal] = []

    def given(self, groups: Sequence[Group], charges: Charges) -> None:
        """Groups of a file instead of proposals: those that the gradients confirm, and whose
        tensors meet no operation without a rule, such as a threshold that no sample came near."""
        unknown = charges.unknown()
        names = {id(tensor): name for name, tensor in self._tensors()}
        aliases = {
            name: names[id(parameter)]
            for name, parameter in self._probe.model.named_parameters(remove_duplicate=False)
        }
        signs = {"g": 1, "g^-T": -1}
        samples = self._prepare({slot.tensor for group in groups for slot in group.slots})
        for group in groups:
            slots = [
                replace(s, tensor=aliases.get(s.tensor, s.tensor), rho=signs.get(s.rho, s.rho))
                for s in group.slots
            ]
            if group.kind == "scale":
                measured = [sample.scale_residual(slots) for sample in samples]
                residual = max(r for r, _ in measured)
                reached = any(size > 0.0 for _, size in measured)
            elif group.dimension == 0:
                residual, reached = 0.0, True  # no Lie algebra; a finite element is tried below
            else:
                antisymmetric = group.kind == "orthogonal"
                matrices = [sample.matrix_residual(slots, antisymmetric) for sample in samples]
                residual, reached = float(torch.stack(matrices).max()), True
            if not reached:
                reason = "these parameters do not reach the output"
                self.refused.append(Refusal(group.name, group.where, reason))
            elif any(s.tensor in unknown for s in slots):
                reason = next(unknown[s.tensor] for s in slots if s.tensor in unknown)
                self.refused.append(Refusal(group.name, group.where, reason))
            elif not residual <= NOETHER_TOLERANCE:
                reason = "not confirmed by the gradients"
                self.refused.append(Refusal(group.name, group.where, reason, residual))
            else:
                self.groups.append(_in_mode(replace(group, residual=residual), ""))

    def _tensors(self) -> list[tuple[str, Tensor]]:
        return [*self._probe.parameters.items(), *self._probe.buffers.items()]

    def _prepare(self, used: set[str | None]) -> list[Sample]:
        if self._samples is None:
            statistics = [name for name in self._probe.buffers if name in used]
            names = [*self._probe.parameters, *statistics]
            self._samples = []
            for seed, gain in ((1, 1.0), (2, 2.0)):
                values = self._probe.randomise(seed, gain)
                gradients = self._probe.gradients(names, seed)
                if not all(bool(torch.isfinite(g).all()) for g in gradients.values()):
                    values = self._probe.randomise(seed, 0.5)
                    gradients = self._probe.gradients(names, seed)
                self._samples.append(Sample(values, gradients))
            self._probe.original()
        return self._samples

    def scalings(self, charges: Charges, solution: Solution) -> None:
        samples = self._prepare({variable.tensor for variable in charges.variables})
        for proposal in propose(charges, solution):
            if moves_nothing(proposal, samples[0].values):
                continue
            measured = [sample.scale_residual(proposal.slots) for sample in samples]
            residual = max(r for r, _ in measured)
            if all(size == 0.0 for _, size in measured):
                self._refuse("R+", proposal, "these parameters do not reach the output", None)
            elif not residual <= NOETHER_TOLERANCE:
                self._refuse("R+", proposal, "not confirmed by the gradients", residual)
            else:
                self._mixed(proposal, residual, samples)
        self._explain(charges, solution)

    def _mixed(self, proposal: Proposal, residual: float, samples: list[Sample]) -> None:
        """A proved scaling: general linear where its indices may be mixed."""
        mixing = (
            not proposal.mixing
            and proposal.size > 1
            and all(slot.rho in (1, -1) and not slot.shift for slot in proposal.slots)
        )
        if mixing and any(slot.tensor in self._half for slot in proposal.slots):
            reason = "half precision: only powers of two are exact"
            self._refuse("GL", proposal, reason, None)
            mixing = False
        if not mixing:
            self._accept("scale", proposal.slots, proposal.size, residual)
            return
        matrices = [sample.matrix_residual(proposal.slots, False) for sample in samples]
        worst = torch.stack(matrices).amax(0)
        found = blocks(worst)
        start = 0
        while found:
            start, stop = found.pop(0)
            if stop - start > 1:
                error = float(worst[start:stop, start:stop].max())
                self._accept("gl", part_of(proposal.slots, start, stop, "gl"), stop - start, error)
                continue
            while found and found[0][1] - found[0][0] == 1:
                stop = found.pop(0)[1]
            slots = part_of(proposal.slots, start, stop, "scale")
            self._accept("scale", slots, stop - start, residual)

    def rotations(self, charges: Charges, solution: Solution) -> None:
        """Orthogonal groups: changes of sign that may be mixed."""
        taken = {
            (slot.tensor, slot.axis, slot.start)
            for group in self.groups
            for slot in group.slots
            if group.kind == "gl"
        }
        samples = self._prepare({variable.tensor for variable in charges.variables})
        for proposal in propose(charges, solution):
            places = {(slot.tensor, slot.axis, slot.start) for slot in proposal.slots}
            if proposal.size < 2 or places & taken or any(s.shift for s in proposal.slots):
                continue
            vectors = {s.tensor for s in proposal.slots if samples[0].values[s.tensor].ndim == 1}
            if proposal.mixing:
                gains = [name for name in vectors if name.endswith("weight")]
                writers = sum(slot.axis == 0 for slot in proposal.slots) - len(vectors)
                if gains and writers >= 1 and len(places) > 3:
                    reason = "the gains of the norms differ; only norms without gains allow it"
                    self._refuse("O", proposal, reason, None)
                continue
            if any(slot.tensor in self._half for slot in proposal.slots):
                self._refuse("O", proposal, "half precision: only powers of two are exact", None)
                continue
            matrices = [sample.matrix_residual(proposal.slots, True) for sample in samples]
            worst = torch.stack(matrices).amax(0)
            for start, stop in blocks(worst):
                if stop - start > 1:
                    slots = part_of(proposal.slots, start, stop, "orthogonal")
                    error = float(worst[start:stop, start:stop].max())
                    self._accept("orthogonal", slots, stop - start, error)

    def finite(self) -> float:
        """Tests random elements at random parameters and at the user's; refuses what fails."""
        drift = 0.0
        for seed, gain in ((1, 1.0), (2, 2.0), (0, 0.0)):
            if seed:
                self._probe.randomise(seed, gain)
            else:
                self._probe.original()
            bad, change = failing(self._probe, self.groups, seed + 10)
            drift = max(drift, change)
            for number, error in bad.items():
                group = self.groups[number]
                reason = "a finite element changes the output"
                self.refused.append(Refusal(group.name, group.where, reason, error))
            self.groups = [g for number, g in enumerate(self.groups) if number not in bad]
        self._probe.original()
        return drift

    def modes(self) -> None:
        """A group that does not hold in train mode as well as in eval mode remembers its own."""
        model = self._probe.model
        before = {module: module.training for module in model.modules()}
        dependent = [module for module in before if depends_on_mode(module)]
        here = "train" if model.training else "eval"
        only: set[int] = set()
        self._probe.randomise(1, 1.0)
        for training in (True, False):
            if all(before[module] == training for module in dependent):
                continue
            if training:  # known without a test: the statistics are not used
                only |= {i for i, g in enumerate(self.groups) if moves_statistics(g, model)}
            numbers = [i for i in range(len(self.groups)) if i not in only]
            model.train(training)
            try:
                bad, _ = failing(self._probe, [self.groups[i] for i in numbers], 11)
            except Exception:  # it does not run, as a batch norm in train mode on one value
                bad = dict.fromkeys(range(len(numbers)), 0.0)
            only |= {numbers[i] for i in bad}
        for module, training in before.items():
            module.training = training
        self._probe.original()
        self.groups = [
            _in_mode(g, "eval" if moves_statistics(g, model) else here) if i in only else g
            for i, g in enumerate(self.groups)
        ]

    def _accept(self, kind: str, slots: Sequence[Slot], size: int, residual: float) -> None:
        notes = []
        if kind == "scale":
            if all(isinstance(slot.rho, int) for slot in slots):
                notes.append("bit-exact with powers of two")
            if any(slot.tensor in self._half for slot in slots):
                notes.append("half precision: powers of two only")
        self.groups.append(
            Group(kind, size, tuple(slots), residual, "; ".join(notes), where_of(slots))
        )

    def _refuse(self, name: str, proposal: Proposal, reason: str, residual: float | None) -> None:
        pattern = "R+^{}" if name == "R+" else name + "({})"
        self.refused.append(
            Refusal(pattern.format(proposal.size), where_of(proposal.slots), reason, residual)
        )

    def _explain(self, charges: Charges, solution: Solution) -> None:
        """Axes on which no scaling is left, with the operation that forbids it."""
        axes: dict[tuple[str, int], list[int]] = {}
        for number, variable in enumerate(charges.variables):
            if variable.tensor is not None:
                axes.setdefault((variable.tensor, variable.axis), []).append(number)
        told: set[tuple[str, str]] = set()
        for (tensor, _), numbers in axes.items():
            stuck = [number for number in numbers if not solution.value(number)]
            if tensor.endswith("bias") or not stuck:
                continue
            reason, where = solution.reason(stuck[0])
            module = tensor.rpartition(".")[0] or tensor
            key = (module, reason)
            if not reason or reason.startswith(_CONSEQUENCES) or key in told:
                continue
            told.add(key)
            at = f" (in {where})" if where and where not in (module, tensor) else ""
            self.refused.append(Refusal(f"R+^{len(stuck)}", module, reason + at))


def _in_mode(group: Group, mode: str) -> Group:
    notes = [note for note in group.note.split("; ") if note and not note.endswith("mode only")]
    if mode:
        notes.append(f"{mode} mode only")
    return replace(group, mode=mode, note="; ".join(notes))
