# SPDX-License-Identifier: MIT
"""Statistics of all ranks together, so that every rank has the same gauges."""

from __future__ import annotations

from typing import Any

import torch
from torch import distributed as dist

from .matrices import Matrices
from .source import Inputs


def group_of(model: Any, ddp: Any, layers: list[Matrices], given: Any) -> Any:
    """The process group whose ranks train this model together, or None."""
    if not isinstance(given, str):
        return given
    model = getattr(model, "_orig_mod", model)
    for wrapper in (model, ddp):
        if isinstance(wrapper, torch.nn.parallel.DistributedDataParallel):
            return wrapper.process_group
    for m in layers:
        mesh = getattr(m.parameter, "device_mesh", None)
        if mesh is not None:
            if mesh.ndim > 1:
                raise ValueError(
                    "process_group: the shards have a mesh of several dimensions; pass the group of"
                    " all ranks that hold different data"
                )
            return mesh.get_group()
    return None


def size(group: Any) -> int:
    return 1 if group is None else dist.get_world_size(group)


def agree(numbers: list[int], device: torch.device, group: Any) -> list[int]:
    """The largest of each number over all ranks."""
    tensor = torch.tensor(numbers, device=device)
    dist.all_reduce(tensor, dist.ReduceOp.MAX, group=group)
    return tensor.tolist()


def share(sources: list[Inputs], group: Any) -> None:
    """Replaces the sums of every rank by their mean over all ranks, in one message."""
    sums = [source.S for source in sources if source.S is not None]
    if not sums:
        return
    double = any(S.dtype == torch.float64 for S in sums)
    whole = torch.cat([S.flatten().to(torch.float64 if double else torch.float32) for S in sums])
    dist.all_reduce(whole, group=group)
    whole /= size(group)
    for S, part in zip(sums, whole.split([S.numel() for S in sums]), strict=True):
        S.copy_(part.view(S.shape))
