# SPDX-License-Identifier: MIT
"""The destination of a teleport by its objective."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.optim import Optimizer

from . import closed_forms
from .agreement import Agreement
from .certificate import Certificate
from .closed_forms import Destination
from .loss import Loss
from .movables import Elements, Movables
from .options import Options
from .snapshot import Snapshot
from .squares import squares_of
from .transport import Refused
from .usable import optimizer_groups

#: alternate measures so many chains one by one, an evaluation each.
MANY = 16

#: Why a group stays that has nothing to gain.
ALREADY = "already there"


@dataclass
class Search:
    """What a search for a destination may use; `choose` is its only step.

    reasons: why a group is left alone, "" for those that may move.
    own_gradient: `gradients` are the closure's, and `.grad` is to be left out of account.
    """

    movables: Movables
    options: Options
    agreement: Agreement
    certificate: Certificate
    reasons: list[str]
    gradients: Mapping[str, Tensor] | None
    loss: Loss | None
    undo: Snapshot
    own_gradient: bool
    turn: int

    def __post_init__(self) -> None:
        self._usable = [i for i, reason in enumerate(self.reasons) if not reason]
        self._groups = [self.movables.groups[i] for i in self._usable]

    def choose(self) -> tuple[Elements, list[str]]:
        """Elements, the same for all processes, and why a group stays."""
        if self.options.objective == "alternate":
            return self._alternate()
        if self.options.objective == "decrease":
            return self._decrease()
        return self._whole(self._closed_form(self.options.objective))

    def _whole(self, destination: Destination) -> tuple[Elements, list[str]]:
        groups = self.movables.groups
        elements: Elements = [None] * len(groups)
        notes = list(self.reasons)
        for k, i in enumerate(self._usable):
            element = destination.elements[k]
            notes[i] = destination.reasons[k]
            if element is not None and torch.equal(element, groups[i].identity()):
                element, notes[i] = None, ALREADY
            elements[i] = element
        return self.agreement.elements(elements), notes

    def _floor(self) -> float:
        """Eigenvalues of a Gram matrix below this times the largest count as absent."""
        return 1e-12 if self.movables.double else 1e-6

    def _closed_form(self, objective: str) -> Destination:
        exact = self.options.powers_of_two or self.movables.half
        floor = self._floor()
        if objective == "balance":
            weights = self.movables.parameters
            return closed_forms.balance(self._groups, weights, powers_of_two=exact, floor=floor)
        metric = self._in_metric()
        if objective == "flat":
            return closed_forms.flat(self._groups, metric, powers_of_two=exact, floor=floor)
        return closed_forms.gradient(self._groups, metric, kappa=self.options.kappa)

    def _in_metric(self) -> Mapping[str, Tensor]:
        """Gradients times the root of their learning rate, so that |.|^2 is the decrease of a small
        step of gradient descent."""
        assert self.gradients is not None
        settings = optimizer_groups(self.movables)
        rates = {n: float(g["lr"]) for n, g in (settings or {}).items()}
        largest = max(rates.values(), default=0.0)
        if not largest > 0 or min(rates.values()) == largest:
            return self.gradients
        return {
            n: g * math.sqrt(rates.get(n, largest) / largest) for n, g in self.gradients.items()
        }

    # --- alternate ------------------------------------------------------------------------------

    def _alternate(self) -> tuple[Elements, list[str]]:
        weights = self.movables.parameters
        white = self._white(self.turn)
        if all(e is None for e in white.elements):
            return self._whole(white)
        if self.options.scale is not None:
            scales = [self.options.scale] * len(white.powers)
            return self._whole(closed_forms.scale_alternate(white, scales))
        measurable = self.loss is not None and self.gradients is not None
        if not measurable or not isinstance(self.movables.optimizer, torch.optim.SGD):
            scales = closed_forms.kept_scales(white, self._groups, weights)
            return self._whole(closed_forms.scale_alternate(white, scales))
        certificate = self.certificate
        certificate.next_loss_plain = self._next_loss(None)
        scales = self._measured_scales(white)
        for _ in range(6):
            elements, notes = self._whole(closed_forms.scale_alternate(white, scales))
            certificate.next_loss = self._next_loss(elements)
            if certificate.next_loss <= certificate.next_loss_plain:
                return elements, notes
            scales = [s / 4 for s in scales]
        raise Refused(
            f"the next step would end at {certificate.next_loss:.6g}, without the teleport at "
            f"{certificate.next_loss_plain:.6g}"
        )

    def _white(self, turn: int) -> Destination:
        floor = self._floor()
        return closed_forms.alternate(
            self._groups, self.movables.parameters, turn=turn, floor=floor
        )

    def _measured_scales(self, white: Destination) -> list[float]:
        """The best step t = J / Phi on the free tensors of every chain, over the learning rate.

        First chain by chain, then one factor for all of them together. With more than MANY chains
        they share a step.
        """
        assert self.gradients is not None and self.movables.optimizer is not None
        elements, _ = self._whole(white)
        gradients = self.movables.moved_gradients(self.gradients, elements)
        rate = max(float(g["lr"]) for g in self.movables.optimizer.param_groups)
        if not rate > 0:
            return [1.0] * len(white.free)
        steps = [{n: gradients[n] for n in free if n in gradients} for free in white.free]
        best = [1.0] * len(steps)
        if 1 < len(steps) <= MANY:
            best = [self._best_step(elements, [(1.0, step)]) for step in steps]
        joint = self._best_step(elements, list(zip(best, steps, strict=True)))
        return [joint * t / rate for t in best]

    def _best_step(self, elements: Elements, steps: list[tuple[float, dict[str, Tensor]]]) -> float:
        """The minimum over t of the loss at g.w - t * step, by a parabola through L, its slope -J
        and one more value; a step is a sum of weighted gradients."""
        assert self.loss is not None
        before = self.certificate.loss_before
        slope = sum(weight * squares_of(step) for weight, step in steps)
        if not slope > 0 or not before:
            return 1.0
        t = abs(before) / slope
        for _ in range(20):
            try:
                self.movables.move(elements)
                with torch.no_grad():
                    for weight, step in steps:
                        for name, gradient in step.items():
                            self.movables.tensors[name].sub_(t * weight * gradient)
                after = self.loss.value()
            except Refused:
                after = math.inf
            finally:
                self.undo.restore()
            if after < 10 * abs(before):
                break
            t /= 10
        phi = 2 * (after - before + t * slope) / t**2
        best = slope / phi if phi > 0 and math.isfinite(phi) else t
        return min(best, 10 * t)

    # --- decrease -------------------------------------------------------------------------------

    def _decrease(self) -> tuple[Elements, list[str]]:
        weights = self.movables.parameters
        candidates = {name: self._closed_form(name) for name in ("balance", "gradient", "flat")}
        for side in (0, 1):
            white = self._white(self.turn + side)
            if any(e is not None for e in white.elements):
                scales = closed_forms.kept_scales(white, self._groups, weights)
                name = f"alternate (turn {self.turn + side})"
                candidates[name] = closed_forms.scale_alternate(white, scales)
        certificate = self.certificate
        plain = certificate.next_loss_plain = self._next_loss(None)
        best: tuple[float, str, Elements, list[str]] | None = None
        for name, destination in candidates.items():
            elements, notes = self._whole(destination)
            if all(e is None for e in elements):
                continue
            try:
                score = self._next_loss(elements)
            except Refused:
                continue
            if best is None or score < best[0]:
                best = (score, name, elements, notes)
        if best is None:
            raise Refused("nothing to move, or no candidate has a finite loss after the next step")
        certificate.next_loss = best[0]
        steps = self.options.rehearsal
        verdict = (
            f"the candidate '{best[1]}' has loss {best[0]:.6g} after "
            f"{'the next step' if steps == 1 else f'{steps} steps'}, without a teleport {plain:.6g}"
        )
        if not best[0] < plain:
            raise Refused(f"no candidate decreases the loss faster: {verdict}")
        certificate.reason = verdict
        return best[2], best[3]

    def _next_loss(self, elements: Elements | None) -> float:
        """The loss after the optimizer's next steps from the candidate, with its state moved."""
        assert self.loss is not None and self.gradients is not None
        parameters = {n: p for p, n in self.movables.names.items()}
        try:
            if self.own_gradient:
                for name, gradient in self.gradients.items():
                    parameters[name].grad = gradient.clone()
            if elements is not None:
                self.movables.move(elements)
            twin = _twin(self.movables.optimizer)
            twin.step()
            for _ in range(self.options.rehearsal - 1):
                _, found = self.loss.gradient()
                for p in self.movables.names:
                    p.grad = found.get(p)
                twin.step()
            return self.loss.value()
        finally:
            self.undo.restore()


def _twin(optimizer: Optimizer | None) -> Optimizer:
    """An optimizer with its own copy of the state on the same parameters, without hooks, so that a
    trial step leaves no trace."""
    if optimizer is None or isinstance(optimizer, torch.optim.LBFGS):
        raise Refused("a trial step needs an optimizer, and LBFGS calls its closure by itself")
    shared = {id(p): p for g in optimizer.param_groups for p in g["params"]}
    twin = copy.deepcopy(optimizer, shared)
    for name, value in optimizer.__dict__.items():
        if name not in twin.__dict__ and name != "step":
            twin.__dict__[name] = value
    return twin
