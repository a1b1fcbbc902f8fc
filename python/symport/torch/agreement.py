# SPDX-License-Identifier: MIT
"""All processes of a data-parallel run take the same jump."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


class Agreement:
    """Rank 0's element and the mean of the losses, for every rank.

    `group`: "auto" is the default process group where one is initialised, None is none.
    """

    def __init__(self, group: Any = "auto") -> None:
        if isinstance(group, str):
            if group != "auto":
                raise ValueError(
                    f"process_group: {group!r}; expected 'auto', None or a process group"
                )
            group = dist.group.WORLD if dist.is_available() and dist.is_initialized() else None
        self._group = group
        self._size = 1 if group is None else dist.get_world_size(group)
        backend = "" if group is None else dist.get_backend(group)
        self._device = torch.device("cuda") if backend == "nccl" else torch.device("cpu")

    @property
    def several(self) -> bool:
        return self._size > 1

    def elements(self, elements: Sequence[Tensor | None]) -> list[Tensor | None]:
        """Those of rank 0, also which of them are None."""
        if not self.several:
            return list(elements)
        source = dist.get_global_rank(self._group, 0)
        payload: list[Any] = [[None if e is None else e.cpu() for e in elements]]
        dist.broadcast_object_list(payload, source, group=self._group, device=self._device)
        return payload[0]

    def mean(self, value: float) -> float:
        if not self.several:
            return value
        total = torch.tensor(value, dtype=torch.float64, device=self._device)
        dist.all_reduce(total, group=self._group)
        return float(total) / self._size

    def all(self, value: bool) -> bool:
        if not self.several:
            return value
        least = torch.tensor(int(value), device=self._device)
        dist.all_reduce(least, dist.ReduceOp.MIN, group=self._group)
        return bool(least)
