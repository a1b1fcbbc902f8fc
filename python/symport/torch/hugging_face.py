# SPDX-License-Identifier: MIT
"""Teleports in Hugging Face's Trainer (needs the package transformers)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from .schedule import Schedule
from .symmetries import Symmetries
from .teleporter import Teleporter


class TeleportCallback(TrainerCallback):
    """Teleports at scheduled steps: ``Trainer(..., callbacks=[TeleportCallback(symmetries, 100)])``
    with ``symmetries = find_symmetries(model, inputs)``.

    Schedule and options are those of `Teleporter`, which is made when training begins, with the
    trainer's optimizer; the trainer has clipped the gradients before. Its state is saved in each
    checkpoint as teleporter.pt.
    """

    def __init__(self, symmetries: Symmetries, schedule: Schedule = 100, **options: Any):
        self.symmetries, self.schedule, self.options = symmetries, schedule, options
        self.teleporter: Teleporter | None = None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, optimizer: Any = None, **_: Any
    ) -> None:
        plain = getattr(optimizer, "optimizer", optimizer)  # Accelerate's wrapper has it inside
        self.teleporter = Teleporter(self.symmetries, plain, self.schedule, **self.options)
        saved = _file(args, state, "teleporter.pt")
        if saved.exists():
            self.teleporter.load_state_dict(torch.load(saved, weights_only=True))

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        assert self.teleporter is not None
        self.teleporter.step()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.teleporter is not None and state.is_world_process_zero:
            torch.save(self.teleporter.state_dict(), _file(args, state, "teleporter.pt"))


def _file(args: Any, state: Any, name: str) -> Path:
    return Path(args.output_dir) / f"checkpoint-{state.global_step}" / name
