# SPDX-License-Identifier: MIT
"""Teleports in Lightning's Trainer (needs the package lightning)."""

from __future__ import annotations

from typing import Any

from lightning.pytorch import Callback

from .schedule import Schedule
from .symmetries import Symmetries
from .teleporter import Teleporter


class TeleportCallback(Callback):
    """Teleports at scheduled steps: ``Trainer(callbacks=[TeleportCallback(symmetries, 100)])``
    with ``symmetries = find_symmetries(model, inputs)`` of the module or of a model in it.

    For modules with automatic optimization and one optimizer. Schedule and options are those of
    `Teleporter`, which is made when training begins. Lightning clips gradients after this callback.
    """

    def __init__(self, symmetries: Symmetries, schedule: Schedule = 100, **options: Any):
        self.symmetries, self.schedule, self.options = symmetries, schedule, options
        self.teleporter: Teleporter | None = None
        self._saved: dict[str, Any] | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        _check_automatic(trainer, pl_module, "TeleportCallback", "Teleporter")
        optimizer = trainer.optimizers[0]
        self.teleporter = Teleporter(self.symmetries, optimizer, self.schedule, **self.options)
        if self._saved is not None:
            self.teleporter.load_state_dict(self._saved)
            self._saved = None

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        assert self.teleporter is not None
        self.teleporter.step()

    def state_dict(self) -> dict[str, Any]:
        return self.teleporter.state_dict() if self.teleporter is not None else {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._saved = state_dict or None


def _check_automatic(trainer: Any, pl_module: Any, callback: str, inner: str) -> None:
    if not pl_module.automatic_optimization or len(trainer.optimizers) != 1:
        raise ValueError(
            f"{callback}: expected automatic optimization with one optimizer; "
            f"otherwise make a {inner} in the module and call its step() yourself"
        )
