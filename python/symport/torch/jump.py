# SPDX-License-Identifier: MIT
"""One teleport: find the element, move everything, judge, keep or take back."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from . import closed_forms, usable
from .action import condition, is_power_of_two
from .agreement import Agreement
from .certificate import NOTHING_TO_DO, Certificate, GroupMove
from .destinations import ALREADY, Search
from .loss import Loss
from .movables import Elements, Movables
from .optimizers import OptimizerOrSeveral
from .options import Options
from .snapshot import Snapshot
from .squares import squares_of
from .symmetries import Symmetries
from .transport import Refused
from .usable import DIFFERENT_DECAYS


class NothingToDo(Refused):
    """The model is where the teleport would go: no bit changes."""


class Jump:
    """Teleports of one model with its optimizers."""

    def __init__(
        self,
        symmetries: Symmetries,
        optimizer: OptimizerOrSeveral | None,
        options: Options,
        agreement: Agreement,
        model: nn.Module | None = None,
    ) -> None:
        self.options = options
        self.movables = Movables(symmetries, optimizer, model)
        if options.objective == "decrease" and self.movables.round_trip is not None:
            raise ValueError(
                "objective='decrease' takes steps on trial, and those of a RoundTrip cannot be"
                " taken back: choose another objective, such as 'balance'"
            )
        self._agreement = agreement
        self._warned = False

    def run(self, closure: Callable[[], Any] | None, gradient: str, turn: int = 0) -> Certificate:
        """`gradient`: which one to use: "closure", "standing" (what is in `.grad`), or "none".

        What is in `.grad` moves along in any case.
        """
        begin = time.perf_counter()
        certificate = Certificate(self.options.objective)
        loss = None if closure is None else Loss(closure, self.movables.model, self._agreement)
        undo: Snapshot | None = None
        residuals: list[float | None] = []
        try:
            gradients = self._prepare(certificate, loss, gradient)
            reasons, residuals = usable.reasons(
                self.movables, gradients, across_decay=self.options.across_decay
            )
            certificate.groups = self._moves(None, reasons, residuals)
            certificate.squared_norm_before = self._squared_norm()
            undo = self.movables.snapshot(everything=self._tries(loss))
            search = Search(
                self.movables,
                self.options,
                self._agreement,
                certificate,
                reasons,
                gradients,
                loss,
                undo,
                gradient == "closure",
                turn,
            )
            elements, notes = search.choose()
            certificate.groups = self._moves(elements, notes, residuals)
            if all(e is None for e in elements):
                already = set(notes) <= {ALREADY, closed_forms.ISOMETRY} and ALREADY in notes
                raise NothingToDo(ALREADY) if already else Refused(_nothing(notes))
            if gradients is not None and gradient == "closure":
                gradients = self.movables.moved_gradients(gradients, elements)
            self.movables.move(elements)
            if gradients is not None:
                certificate.grad_sq_after = squares_of(gradients)
            certificate.squared_norm_after = self._squared_norm()
            certificate.rounding = self.movables.rounding(elements, undo)
            certificate.bit_exact = certificate.rounding == 0 and all(
                g.powers_of_two for g in certificate.groups if g.moved
            )
            self._judge(certificate, loss, undo, elements)
            self.movables.settle(elements)
            certificate.accepted = True
            certificate.state = self.movables.state_notes(elements)
            if not certificate.reason:
                count = sum(g.moved for g in certificate.groups)
                certificate.reason = f"moved {count} of {len(certificate.groups)} groups"
        except (Refused, torch.linalg.LinAlgError) as refused:
            if undo is not None:
                undo.restore()
            if not isinstance(refused, Refused):
                refused = Refused(f"a decomposition failed: {refused}")
            nothing = isinstance(refused, NothingToDo)
            certificate.reason = f"{NOTHING_TO_DO}: {refused}" if nothing else str(refused)
            certificate.bit_exact = nothing
            certificate.squared_norm_after = certificate.squared_norm_before
            certificate.grad_sq_after = certificate.grad_sq_before
            certificate.groups = [replace(g, moved=False) for g in certificate.groups]
        except BaseException:
            if undo is not None:
                undo.restore()
            raise
        certificate.evaluations = 0 if loss is None else loss.evaluations
        certificate.scope = _scope(certificate, self.movables.symmetries)
        certificate.seconds = time.perf_counter() - begin
        self._warn_of_decays(certificate)
        return certificate

    def _warn_of_decays(self, certificate: Certificate) -> None:
        """Once, where groups of parameters with and without weight decay leave nothing to move."""
        if certificate.accepted or self._warned or DIFFERENT_DECAYS not in certificate.reason:
            return
        self._warned = True
        count = sum(DIFFERENT_DECAYS in g.reason for g in certificate.groups)
        warnings.warn(
            f"the teleport moved nothing, as {count} of {len(certificate.groups)} groups of the"
            f" symmetries hold parameters that {DIFFERENT_DECAYS}; across_decay=True moves them",
            stacklevel=4,
        )

    def _tries(self, loss: Loss | None) -> bool:
        """Whether the optimizer takes steps on trial."""
        return self.options.objective in ("decrease", "alternate") and loss is not None

    def _prepare(
        self, certificate: Certificate, loss: Loss | None, source: str
    ) -> Mapping[str, Tensor] | None:
        """The gradient by name, after everything that can be wrong before the search. All processes
        refuse if one does."""
        failure = ""
        gradients: Mapping[str, Tensor] | None = None
        try:
            self.movables.check(steps=self._tries(loss))
            if source == "standing":
                gradients = self.movables.gradients()
        except Refused as refused:
            failure = str(refused)
        if not self._agreement.all(not failure):
            raise Refused(failure or "another process refused")
        if loss is not None and source == "closure":
            certificate.loss_before, found = loss.gradient()
            gradients = {self.movables.names[p]: g for p, g in found.items()}
        elif loss is not None:
            certificate.loss_before = loss.value()
        if loss is not None and certificate.loss_before is not None:
            loss.check_repeatable(certificate.loss_before, self._usual_tolerance())
        if gradients is not None:
            certificate.grad_sq_before = squares_of(gradients)
            if not math.isfinite(certificate.grad_sq_before):
                bad = [n for n, g in gradients.items() if not bool(torch.isfinite(g).all())]
                failure = (
                    f"the gradient of {bad[0]} holds infinity or NaN"
                    if bad
                    else "the squares of the gradient overflow; scale the loss down"
                )
        needed = self.options.objective in ("gradient", "flat", "decrease")
        if gradients is None and needed:
            failure = "no gradients: teleport between loss.backward() and optimizer.step()"
        if not self._agreement.all(not failure):
            raise Refused(failure or "another process refused")
        return gradients

    def _judge(
        self, certificate: Certificate, loss: Loss | None, undo: Snapshot, elements: Elements
    ) -> None:
        """Raises `Refused` if a tensor is no longer finite or the loss has changed."""
        finite = math.isfinite(squares_of(self.movables.buffers) + certificate.squared_norm_after)
        if not self._agreement.all(finite):
            if not math.isfinite(certificate.squared_norm_before):
                raise Refused("a parameter is not finite")
            raise Refused("a parameter would overflow")
        before = certificate.loss_before
        tolerance = certificate.tolerance = self._tolerance()
        if loss is None or before is None:
            if not certificate.rounding <= tolerance:
                raise Refused(
                    f"rounding would change the weights by {certificate.rounding:.1e}, allowed"
                    f" {tolerance:.0e}: the condition number is {certificate.condition:.3g}; choose"
                    " a smaller kappa, or double precision"
                )
            return
        certificate.loss_after = loss.value()
        change = abs(certificate.loss_after - before)
        certificate.drift = (
            0.0 if change == 0 else math.inf if before == 0 else change / abs(before)
        )
        certificate.bit_exact = certificate.bit_exact and change == 0
        if certificate.drift <= tolerance:
            return
        # Near a minimum rounding alone changes the loss by more than that. As in the C++ library, a
        # change up to 1000 times what rounding the *starting* parameters does is none.
        if change <= 1000 * self._rounding(loss, before, undo):
            certificate.at_rounding_level = True
            self.movables.move(elements)
            return
        raise Refused(f"the loss would change by {certificate.drift:.1e}, allowed {tolerance:.0e}")

    def _rounding(self, loss: Loss, before: float, undo: Snapshot) -> float:
        """The change of L when the entries that the groups touch are rounded up or down by one
        unit, the worst of two draws."""
        worst = 0.0
        generator = torch.Generator().manual_seed(0)
        for _ in range(2):
            undo.restore()
            with torch.no_grad():
                for name in self.movables.slots:
                    t = self.movables.tensors[name]
                    signs = torch.randint(0, 2, t.shape, generator=generator) * 2 - 1
                    t.mul_(1 + torch.finfo(t.dtype).eps * signs.to(t.device, t.dtype))
            worst = max(worst, abs(loss.value() - before))
        undo.restore()
        return worst

    def _tolerance(self) -> float:
        if self.options.tolerance is not None:
            return self.options.tolerance
        return self._usual_tolerance()

    def _usual_tolerance(self) -> float:
        return 1e-2 if self.movables.half else 1e-10 if self.movables.double else 1e-5

    def _squared_norm(self) -> float:
        names = self.movables.names.items()
        return squares_of({n: p for p, n in names if p.requires_grad})

    def _moves(
        self,
        elements: Elements | None,
        notes: Sequence[str],
        residuals: Sequence[float | None],
    ) -> list[GroupMove]:
        moves = []
        for i, group in enumerate(self.movables.groups):
            element = None if elements is None else elements[i]
            proved = self.movables.symmetries.proved_for is not None
            moves.append(
                GroupMove(
                    where=group.where,
                    kind=group.kind,
                    size=group.size,
                    moved=element is not None,
                    condition=1.0 if element is None else condition(group, element),
                    powers_of_two=element is not None and is_power_of_two(group, element),
                    residual=residuals[i],
                    proof=group.residual if proved else None,
                    reason=notes[i] if element is None else "",
                )
            )
        return moves


def _nothing(notes: Sequence[str]) -> str:
    common = max(dict.fromkeys(notes), key=list(notes).count, default="")
    return f"nothing to move: {common}" if common else "nothing to move: the model has no groups"


def _scope(certificate: Certificate, symmetries: Symmetries) -> str:
    if not certificate.accepted:
        return "nothing was moved"
    proofs = [g.proof for g in certificate.groups if g.moved]
    known = [p for p in proofs if p is not None]
    if symmetries.proved_for is not None and len(known) == len(proofs):
        data = f"{symmetries.proved_for.data} ({symmetries.proved_for.proof(max(known))})"
    elif symmetries.file:
        data = (
            "all data, if the groups of the gauge file are symmetries of this model (not proved:"
            " it was loaded without example_inputs)"
        )
    else:
        data = "all data, if the groups are symmetries (they were not proved here)"
    if certificate.loss_after is not None:
        return f"{data}; loss evaluated on the closure's data"
    return f"{data}; no loss evaluated"
