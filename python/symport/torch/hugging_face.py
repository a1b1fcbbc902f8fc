# SPDX-License-Identifier: MIT
"""Round trips and teleports in Hugging Face's Trainer (needs the package transformers)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from ._rewriting import RoundTrip
from .schedule import Schedule
from .symmetries import Symmetries
from .teleporter import Teleporter


class RoundTripCallback(TrainerCallback):
    """Makes every optimizer step a round trip: ``Trainer(..., callbacks=[RoundTripCallback()])``.

    The options are those of `RoundTrip`, and so are the learning rates: with AdamW try 0.005 first.
    The trainer has clipped the gradients before; the state of the round trip is saved in each
    checkpoint as round_trip.pt.
    """

    def __init__(self, **options: Any):
        self.options = options
        self.round_trip: RoundTrip | None = None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, model: Any = None, **_: Any
    ) -> None:
        if self.round_trip is not None:
            self.round_trip.remove()
        self.round_trip = RoundTrip(model, **self.options)
        saved = _file(args, state, "round_trip.pt")
        if saved.exists():
            self.round_trip.load_state_dict(torch.load(saved, weights_only=True))

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        assert self.round_trip is not None
        self.round_trip.step()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.round_trip is not None and state.is_world_process_zero:
            torch.save(self.round_trip.state_dict(), _file(args, state, "round_trip.pt"))

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.round_trip is not None:
            self.round_trip.remove()
            self.round_trip = None


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
