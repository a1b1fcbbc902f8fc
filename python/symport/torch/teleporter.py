# SPDX-License-Identifier: MIT
"""Teleports within a training loop."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from .agreement import Agreement
from .certificate import Certificate
from .jump import Jump
from .optimizers import OptimizerOrSeveral, check_optimizer, given
from .options import OptionArguments, Options
from .schedule import Schedule, due_at
from .symmetries import Symmetries
from .usable import NOT_OF_THIS_LOSS

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Teleporter:
    """Teleports at scheduled steps, between `loss.backward()` and `optimizer.step()`:

        teleporter = Teleporter(symmetries, optimizer, 100)
        for x, y in batches:
            loss = loss_of(model(x), y)
            loss.backward()
            teleporter.step()
            optimizer.step()
            optimizer.zero_grad()

    The gradients are used as they are: averaged over processes, clipped, unscaled. They move with
    the parameters, buffers and the optimizer's state; no second backward pass is needed. With a
    closure the loss is evaluated before and after, and a teleport that would change it is refused;
    without one the invariance rests on the proof of the groups and on their Noether residual in the
    gradient of the step. `objective="decrease"` needs a closure.

    optimizer: the one that trains the model, a list of all that do, such as `[muon, adamw]`, or a
        RoundTrip, whose gauges begin anew after a teleport.
    schedule: an integer k (steps k, 2k, ...; 1 is every step, from the first on), a set of steps,
        a function of the step, or a text as on the command line: "5", "0/10/20", "0..40:10",
        "every:100" (steps 0, 100, ...), "every:100+99"; steps count the calls of `step` from 0.
    scaler: the GradScaler of mixed precision; its gradients are unscaled first.
    options: as those of `teleport`, with the same defaults.
    """

    def __init__(
        self,
        symmetries: Symmetries,
        optimizer: OptimizerOrSeveral,
        schedule: Schedule = 100,
        *,
        closure: Callable[[], Any] | None = None,
        scaler: Any = None,
        process_group: Any = "auto",
        **options: Unpack[OptionArguments],
    ) -> None:
        check_optimizer(optimizer)
        chosen = Options.of(options)
        self.certificates: list[Certificate] = []
        self._optimizers = given(optimizer)
        self._due = due_at(schedule)
        self._schedule = getattr(schedule, "__name__", None) or repr(schedule)
        self._warned = False
        self._closure = closure
        self._scaler = scaler
        self._step = 0
        self._jump = Jump(symmetries, optimizer, chosen, Agreement(process_group))

    def __repr__(self) -> str:
        moved = sum(c.accepted for c in self.certificates)
        return (
            f"Teleporter({len(self._jump.movables.groups)} groups, schedule {self._schedule},"
            f" {self._jump.options.objective}; {self._step} steps, {moved}"
            f" teleport{'' if moved == 1 else 's'})"
        )

    def also(self, *copies: nn.Module | Mapping[str, Tensor]) -> Teleporter:
        """Move copies of the weights along (EMA, SWA, slow weights): modules or tensors by name."""
        for other in copies:
            self._jump.movables.also(other)
        return self

    def step(self, closure: Callable[[], Any] | None = None) -> Certificate | None:
        """Teleport if the schedule says so; the certificate, or None at other steps.

        closure: the loss of this step's data, without or with its own `backward`; it takes the
        place of the one given to the constructor.
        """
        step = self._step
        due = self._due(step)
        closure = closure or self._closure
        if due and self._jump.options.objective == "decrease" and closure is None:
            raise ValueError("objective='decrease' evaluates the loss: call step(closure)")
        self._step += 1
        if not due:
            return None
        if self._scaler is not None:
            self._unscale()
        # A refused side (LoRA's B at the start, which is zero) must not come again at once.
        certificate = self._jump.run(closure, "standing", turn=len(self.certificates))
        certificate.step = step
        self.certificates.append(certificate)
        self._warn_of_stale_gradients(certificate)
        return certificate

    def state_dict(self) -> dict[str, Any]:
        """The counter and the certificates, for a checkpoint."""
        return {
            "step": self._step,
            "certificates": [c.to_dict() for c in self.certificates],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._step = int(state["step"])
        self.certificates = [Certificate.from_dict(c) for c in state["certificates"]]

    def _warn_of_stale_gradients(self, certificate: Certificate) -> None:
        # One group alone may be refused by rounding, where its gradients are very small.
        refused = not certificate.accepted and NOT_OF_THIS_LOSS in certificate.reason
        if refused and not self._warned:
            self._warned = True
            warnings.warn(
                f"Teleporter.step() was refused: {certificate.reason}. step() belongs between"
                " backward() and optimizer.step()",
                stacklevel=3,
            )

    def _unscale(self) -> None:
        for optimizer in self._optimizers if self._scaler.is_enabled() else ():
            stage = self._scaler._per_optimizer_states[id(optimizer)]["stage"]
            if stage.name == "READY":
                self._scaler.unscale_(optimizer)
