# SPDX-License-Identifier: MIT
"""Proposals are proved on randomised copies, and become groups or refusals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from .charges import Charges
from .interpret import OUTPUT
from .probe import Probe
from .proof import NOETHER_TOLERANCE, Sample, blocks, failing, moves_nothing, part_of
from .proposals import Proposal, propose
from .slots import Slot, where_of
from .solve import Solution
from .structure import depends_on_mode, moves_statistics
from .symmetries import Group, Refusal

#: Seeds and gains of the random parameters of a proof; the second ones saturate what can saturate.
SAMPLES = ((1, 1.0), (2, 2.0))

HALF = (torch.float16, torch.bfloat16)
HALF_REASON = "half precision: only powers of two are exact"
# Reasons that only follow from another one, or that need no explanation.
_CONSEQUENCES = (OUTPUT, "sum over", "rows chosen", "slope of", "convolution over")


@dataclass
class Candidate:
    """Slots with charges, measured at every sample.

    kind: "scale"; "gl", a scaling that may be more; "orthogonal".
    residuals: of the scaling, sample by sample.
    reached: whether the outputs depend on the slots at all.
    matrix: the largest residuals of the mixing of each index with each, for "gl" where the scaling
        holds and for "orthogonal".
    """

    kind: str
    slots: Sequence[Slot]
    residuals: list[float] = field(default_factory=list)
    reached: bool = False
    matrix: Tensor | None = None

    @property
    def holds(self) -> bool:
        return all(r <= NOETHER_TOLERANCE for r in self.residuals)

    def measure(self, sample: Sample) -> None:
        if self.kind != "orthogonal":
            residual, size = sample.scale_residual(self.slots)
            self.residuals.append(residual)
            self.reached = self.reached or size > 0.0
            if self.kind == "scale" or not self.holds:
                return
        matrix = sample.matrix_residual(self.slots, self.kind == "orthogonal")
        self.matrix = matrix if self.matrix is None else torch.maximum(self.matrix, matrix)


class Prover:
    """Collects proved groups and refusals. One sample is held at a time: its parameters are those
    of the probe, and gradients are taken of what the candidates act on."""

    def __init__(self, probe: Probe, model: nn.Module) -> None:
        self._probe = probe
        self._half = {n for n, p in model.named_parameters() if p.dtype in HALF}
        self._tensors = {**probe.parameters, **probe.buffers}
        self._sample = (0, 0.0)  # where the probe is; (0, 0.0) is the user's place
        self.groups: list[Group] = []
        self.refused: list[Refusal] = []

    # Proposals ----------------------------------------------------------------------------------

    def search(self, charges: Charges, signs: Charges | None) -> None:
        """The scalings and what they are part of; the rotations among changes of sign."""
        solution = Solution(charges)
        scalings = [
            (proposal, Candidate("gl" if self._may_mix(proposal) else "scale", proposal.slots))
            for proposal in propose(charges, solution)
            if not moves_nothing(proposal, self._tensors)
        ]
        flips = [] if signs is None else propose(signs, Solution(signs))
        rotations = [
            (proposal, Candidate("orthogonal", proposal.slots))
            for proposal in flips
            if proposal.size > 1 and not any(slot.shift for slot in proposal.slots)
        ]
        measured = [c for p, c in rotations if not p.mixing and not self._in_half(p)]
        self._measure([c for _, c in scalings] + measured)
        for proposal, candidate in scalings:
            self._scaling(proposal, candidate)
        self._explain(charges, solution)
        taken = {
            (slot.tensor, slot.axis, slot.start)
            for group in self.groups
            for slot in group.slots
            if group.kind == "gl"
        }
        for proposal, candidate in rotations:
            places = {(slot.tensor, slot.axis, slot.start) for slot in proposal.slots}
            if not places & taken:
                self._rotation(proposal, candidate)

    def given(self, groups: Sequence[Group], charges: Charges) -> None:
        """Groups of a file instead of proposals: those that the gradients confirm, and whose
        tensors meet no operation without a rule, such as a threshold that no sample came near."""
        unknown = charges.unknown()
        names = {id(tensor): name for name, tensor in self._tensors.items()}
        aliases = {
            name: names[id(parameter)]
            for name, parameter in self._probe.model.named_parameters(remove_duplicate=False)
        }
        charge = {"g": 1, "g^-T": -1}
        candidates = [
            Candidate(
                group.kind,
                [
                    replace(s, tensor=aliases.get(s.tensor, s.tensor), rho=charge.get(s.rho, s.rho))
                    for s in group.slots
                ],
            )
            for group in groups
        ]
        self._measure([c for c in candidates if c.kind in ("scale", "gl", "orthogonal")])
        for group, candidate in zip(groups, candidates, strict=True):
            worst = list(candidate.residuals)
            if candidate.matrix is not None:
                worst.append(float(candidate.matrix.max()))
            residual = max(worst, default=0.0)  # no Lie algebra: a finite element is tried below
            if candidate.residuals and not candidate.reached:
                reason = "these parameters do not reach the output"
                self.refused.append(Refusal(group.name, group.where, reason))
            elif any(s.tensor in unknown for s in candidate.slots):
                reason = next(unknown[s.tensor] for s in candidate.slots if s.tensor in unknown)
                self.refused.append(Refusal(group.name, group.where, reason))
            elif not all(r <= NOETHER_TOLERANCE for r in worst):
                reason = "not confirmed by the gradients"
                self.refused.append(Refusal(group.name, group.where, reason, residual))
            else:
                self.groups.append(_in_mode(replace(group, residual=residual), ""))

    def _in_half(self, proposal: Proposal) -> bool:
        return any(slot.tensor in self._half for slot in proposal.slots)

    def _may_mix(self, proposal: Proposal) -> bool:
        return self._wants_mixing(proposal) and not self._in_half(proposal)

    def _wants_mixing(self, proposal: Proposal) -> bool:
        charges = all(slot.rho in (1, -1) and not slot.shift for slot in proposal.slots)
        return not proposal.mixing and proposal.size > 1 and charges

    # First order --------------------------------------------------------------------------------

    def _measure(self, candidates: Sequence[Candidate]) -> None:
        used = {slot.tensor for candidate in candidates for slot in candidate.slots}
        names = [name for name in self._tensors if name in used]
        for seed, gain in SAMPLES if names else ():
            self._go(seed, gain)
            gradients = self._probe.gradients(names, seed)
            # A sum of finite numbers is finite, or so large that a smaller gain is better.
            if not all(bool(torch.isfinite(g.sum())) for g in gradients.values()):
                self._go(seed, 0.5)
                gradients = self._probe.gradients(names, seed)
            sample = Sample(self._tensors, gradients)
            for candidate in candidates:
                candidate.measure(sample)

    def _go(self, seed: int, gain: float) -> None:
        """Takes the probe to random parameters, or with seed 0 to the user's."""
        if self._sample != (seed, gain):
            if seed:
                self._probe.randomise(seed, gain)
            else:
                self._probe.original()
            self._sample = (seed, gain)

    def _scaling(self, proposal: Proposal, candidate: Candidate) -> None:
        """A scaling: general linear where its indices may be mixed."""
        if not candidate.reached:
            self._refuse("R+", proposal, "these parameters do not reach the output", None)
            return
        residual = max(candidate.residuals)
        if not candidate.holds:
            self._refuse("R+", proposal, "not confirmed by the gradients", residual)
            return
        if candidate.matrix is None:
            if self._wants_mixing(proposal):
                self._refuse("GL", proposal, HALF_REASON, None)
            self._accept("scale", proposal.slots, proposal.size, residual)
            return
        found = blocks(candidate.matrix)
        while found:
            start, stop = found.pop(0)
            if stop - start > 1:
                error = float(candidate.matrix[start:stop, start:stop].max())
                self._accept("gl", part_of(proposal.slots, start, stop, "gl"), stop - start, error)
                continue
            while found and found[0][1] - found[0][0] == 1:
                stop = found.pop(0)[1]
            slots = part_of(proposal.slots, start, stop, "scale")
            self._accept("scale", slots, stop - start, residual)

    def _rotation(self, proposal: Proposal, candidate: Candidate) -> None:
        """Changes of sign that may be mixed."""
        if proposal.mixing:
            vectors = {s.tensor for s in proposal.slots if self._tensors[s.tensor].ndim == 1}
            places = {(slot.tensor, slot.axis, slot.start) for slot in proposal.slots}
            gains = [name for name in vectors if name.endswith("weight")]
            writers = sum(slot.axis == 0 for slot in proposal.slots) - len(vectors)
            if gains and writers >= 1 and len(places) > 3:
                reason = "the gains of the norms differ; only norms without gains allow it"
                self._refuse("O", proposal, reason, None)
        elif candidate.matrix is None:
            self._refuse("O", proposal, HALF_REASON, None)
        else:
            for start, stop in blocks(candidate.matrix):
                if stop - start > 1:
                    slots = part_of(proposal.slots, start, stop, "orthogonal")
                    error = float(candidate.matrix[start:stop, start:stop].max())
                    self._accept("orthogonal", slots, stop - start, error)

    # Finite elements ----------------------------------------------------------------------------

    def finite(self) -> float:
        """Tests random elements at random parameters and at the user's, and refuses what fails; a
        group that does not hold in the other mode (train or eval) remembers its own. The largest
        change of the outputs by the others."""
        drift = 0.0
        for seed, gain in (*reversed(SAMPLES), (0, 0.0)):
            if self.groups:
                self._go(seed, gain)
            bad, change = failing(self._probe, self.groups, seed + 10)
            drift = max(drift, change)
            for number, error in bad.items():
                group = self.groups[number]
                reason = "a finite element changes the output"
                self.refused.append(Refusal(group.name, group.where, reason, error))
            self.groups = [g for number, g in enumerate(self.groups) if number not in bad]
            if seed == 1 and self.groups:
                self._modes()
        return drift

    def _modes(self) -> None:
        model = self._probe.model
        before = {module: module.training for module in model.modules()}
        dependent = [module for module in before if depends_on_mode(module)]
        here = "train" if model.training else "eval"
        only: set[int] = set()
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
        self.groups = [
            _in_mode(g, "eval" if moves_statistics(g, model) else here) if i in only else g
            for i, g in enumerate(self.groups)
        ]

    # Results ------------------------------------------------------------------------------------

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
