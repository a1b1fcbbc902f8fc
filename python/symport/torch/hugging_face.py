# SPDX-License-Identifier: MIT
"""Round trips in Hugging Face's Trainer (needs the package transformers)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from .round_trip import RoundTrip


class RoundTripCallback(TrainerCallback):
    """Makes every optimizer step a round trip: ``Trainer(..., callbacks=[RoundTripCallback()])``.

    The options are those of `RoundTrip`. The trainer has clipped the gradients before; its state is
    saved in each checkpoint as round_trip.pt.
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
        saved = self._file(args, state)
        if saved.exists():
            self.round_trip.load_state_dict(torch.load(saved, weights_only=True))

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        assert self.round_trip is not None
        self.round_trip.step()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.round_trip is not None and state.is_world_process_zero:
            torch.save(self.round_trip.state_dict(), self._file(args, state))

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.round_trip is not None:
            self.round_trip.remove()
            self.round_trip = None

    @staticmethod
    def _file(args: Any, state: Any) -> Path:
        return Path(args.output_dir) / f"checkpoint-{state.global_step}" / "round_trip.pt"
