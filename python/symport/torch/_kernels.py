# SPDX-License-Identifier: MIT
"""A layer's statistics: of one step, and their running mean."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import _gauge
from ._gauge import Rows

DECAY = 0.95  # of the running mean


class Kernel:
    """A layer's statistics of one step: rows (fewer than inputs), or A; how many rows are in it."""

    def __init__(self, rows: Rows | None, A: Tensor | None, count: int, seen: int):
        self.rows, self.A, self.count, self.seen = rows, A, count, seen


class Average:
    """The running mean of A, divided by the weight of what it has seen, and its damped inverse."""

    def __init__(self) -> None:
        self.A: Tensor | None = None
        self.weight = 0.0
        self.rows = 0
        self.inverse: Tensor | None = None

    def add(self, kernel: Kernel, damping: float, refresh: bool) -> bool:
        assert kernel.A is not None
        if not bool(torch.isfinite(kernel.A).all()):
            return False
        if self.A is None:
            self.A = torch.zeros_like(kernel.A)
        self.A.lerp_(kernel.A, 1 - DECAY)
        self.weight = DECAY * self.weight + (1 - DECAY)
        self.rows += kernel.count
        if refresh or self.inverse is None:
            mean = self.A / self.weight
            rank = min(self.rows, mean.shape[-1])
            ((inverse, _),) = _gauge.damped_inverses([(mean, damping / rank)])
            if inverse is None:
                return False
            self.inverse = inverse
        return True

    def state_dict(self) -> dict[str, Any]:
        assert self.A is not None and self.inverse is not None
        return {
            "A": self.A.clone(),
            "weight": self.weight,
            "rows": self.rows,
            "inverse": self.inverse.clone(),
        }

    @staticmethod
    def from_state(saved: dict[str, Any], device: torch.device) -> Average:
        average = Average()
        average.A = saved["A"].clone().to(device)
        average.weight, average.rows = float(saved["weight"]), int(saved["rows"])
        average.inverse = saved["inverse"].clone().to(device)
        return average
