# SPDX-License-Identifier: MIT
"""Where a gauge comes from: what a layer is given, or the other factor of a product."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn

from . import gauge

DECAY = 0.95  # of the running mean, a step
TENSORS = ("S", "g", "inverse")


class Source:
    """A second moment, and the gauge made of it. Layers with the same input share one."""

    def __init__(self, n: int, k: int, s: int, power: float):
        self.n, self.k, self.s, self.power = n, k, s, power
        self.g: Tensor | None = None
        self.inverse: Tensor | None = None  # for optimizers that read weights

    def statistics(self) -> tuple[Tensor, Tensor] | None:
        """A and how many rows are behind it; None if nothing is known yet."""
        raise NotImplementedError


class Inputs(Source):
    """The running mean of h h' over the rows of a layer's input.

    S = sum over steps of DECAY^age times the sum of (h, 1) (h, 1)' over the rows of that step; its
    last entry is the number of rows.
    """

    def __init__(self, n: int, k: int, s: int, power: float, plain: bool = False):
        super().__init__(n, k, s, power)
        self.plain = plain  # rows are the input itself, so that other layers may share it
        self.S: Tensor | None = None
        self.fresh = True  # no rows since the last step
        self.shown: tuple[weakref.ref[Tensor], int] | None = None  # the input that was added last

    def was_shown(self, x: Tensor) -> bool:
        return self.shown is not None and self.shown[0]() is x and self.shown[1] == x._version

    def add(self, H: Tensor, which: slice = slice(None)) -> None:
        """Rows (n, m, d) of all matrices or of `which`; of one (1, m, d) they count for each."""
        H = gauge.with_one(H, self.k, self.s)
        if self.S is None:
            self.begin(H)
        assert self.S is not None
        if self.S.device != H.device or self.S.dtype != H.dtype:
            self.S = self.S.to(H)
        if self.fresh:
            self.S.mul_(DECAY)
            self.fresh = False
        S = self.S[which]
        H = H.expand(len(S), -1, -1, -1).flatten(0, 1)
        S.flatten(0, 1).baddbmm_(H.mT, H)

    def begin(self, like: Tensor) -> None:
        """Nothing seen yet."""
        self.S = like.new_zeros(self.n, self.k, self.s + 1, self.s + 1)

    def statistics(self) -> tuple[Tensor, Tensor] | None:
        if self.S is None:
            return None
        self.S.masked_fill_(~self.S.isfinite().flatten(1).all(-1)[:, None, None, None], 0)
        rows = self.S[:, 0, -1, -1]
        return self.S[..., :-1, :-1] / rows.clamp(min=1e-9)[:, None, None, None], rows

    def state_dict(self) -> dict[str, Any]:
        tensors = {name: getattr(self, name) for name in TENSORS}
        return {"shape": (self.n, self.k, self.s), "power": self.power, **tensors}

    @staticmethod
    def from_state_dict(state: dict[str, Any]) -> Inputs:
        source = Inputs(*state["shape"], state["power"])
        for name in TENSORS:
            setattr(source, name, None if state[name] is None else state[name].clone())
        return source

    def to(self, device: torch.device) -> None:
        for name in TENSORS:
            if getattr(self, name) is not None:
                setattr(self, name, getattr(self, name).to(device))


class Partner(Source):
    """A A' for the factor B of a product B A, B' B for A: the gauge in which the other factor is
    white. It follows the factors at every step."""

    def __init__(self, factor: nn.Parameter, rank_first: bool, power: float):
        rank = factor.shape[0] if rank_first else factor.shape[1]
        super().__init__(1, 1, rank, power)
        self.factor, self.rank_first = factor, rank_first

    def statistics(self) -> tuple[Tensor, Tensor] | None:
        F = self.factor.detach()
        F = F.full_tensor() if hasattr(F, "full_tensor") else F
        F = F.flatten(1).to(torch.float64 if F.dtype == torch.float64 else torch.float32)
        F = F if self.rank_first else F.mT
        A = (F @ F.mT)[None, None]
        return A.where(A.isfinite().all(), 0), A.new_full((1,), torch.inf)
