# SPDX-License-Identifier: MIT
"""Rows and second moments of all ranks, so that every rank solves the same equations."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch import distributed as dist

from ._gauge import Rows, second_moment
from ._kernels import Kernel
from ._layers import Layer, Use, join


def group_of(model: Any, given: Any) -> Any:
    """The process group to exchange statistics in, or None for none."""
    if given != "auto":
        return given
    if not (dist.is_available() and dist.is_initialized()):
        return None
    return getattr(model, "process_group", None) or dist.group.WORLD


def world_size(group: Any) -> int:
    return 1 if group is None else dist.get_world_size(group)


def exchanged_kernels(
    layers: list[Layer], taken: list[tuple[Rows, int] | None], batch: bool, group: Any
) -> list[Kernel | None]:
    """The kernels of all ranks' rows together; `batch`: rows, where they are fewer than inputs."""
    device = layers[0].weight.device if layers else torch.device("cpu")
    mine = [(t[0].count, t[1]) if t is not None else (0, 0) for t in taken]
    counts = gather_counts(mine, device, group)
    kept, seen = counts.sum(0).unbind(1)
    gather, reduce = [], []
    for i, layer in enumerate(layers):
        if kept[i] == 0:
            continue
        small = batch and kept[i] < layer.dimension
        (gather if small else reduce).append(i)
    parts = []
    for i in gather:
        layer, t = layers[i], taken[i]
        empty = torch.empty(
            layer.groups,
            0,
            layer.inputs,
            dtype=layer.statistics_dtype,
            device=layer.weight.device,
        )
        parts.append((t[0] if t is not None else None, counts[:, i], empty))
    rows = dict(zip(gather, gather_rows(parts, group), strict=True))
    moments = []
    for i in reduce:
        layer, t = layers[i], taken[i]
        d = layer.dimension
        space = torch.empty(
            layer.groups, d, d, dtype=layer.statistics_dtype, device=layer.weight.device
        )
        one = layer.steps_bias
        moments.append((t[0] if t is not None else None, one, mine[i][1], int(seen[i]), space))
    A = dict(zip(reduce, sum_moments(moments, group), strict=True))
    kernels: list[Kernel | None] = []
    for i, t in enumerate(taken):
        if i in rows:
            kernels.append(Kernel(rows[i], None, int(kept[i]), int(seen[i])))
        elif i in A:
            own = t[0] if t is not None else None
            kernels.append(Kernel(own, A[i], int(kept[i]), int(seen[i])))
        else:
            kernels.append(None)
    return kernels


def gather_counts(counts: list[tuple[int, int]], device: torch.device, group: Any) -> Tensor:
    """(world, layers, 2): rows kept and rows seen of each layer on each rank."""
    mine = torch.tensor(counts, dtype=torch.int64, device=device)
    return torch.stack(_all_gather(mine, group)).cpu()


def gather_rows(parts: list[tuple[Rows | None, Tensor, Tensor]], group: Any) -> list[Rows]:
    """For each layer (rows of this rank, counts of all ranks, an empty (g, 0, d) tensor): the rows
    of all ranks in the order of ranks, in one message. The weights travel as a last column."""
    if not parts:
        return []
    flat = []
    for rows, counts, empty in parts:
        groups, _, d = empty.shape
        padded = empty.new_zeros(groups, int(counts[:, 0].max()), d + 1)
        if rows is not None:
            padded[:, : rows.count, :d] = rows.H
            padded[:, : rows.count, d] = 1 if rows.q is None else rows.q
        flat.append(padded.flatten())
    gathered = _all_gather(_concatenated(flat), group)
    found, start = [], 0
    for (_, counts, empty), piece in zip(parts, flat, strict=True):
        groups, _, d = empty.shape
        uses, weights = [], []
        for rank, (kept, seen) in enumerate(counts.tolist()):
            block = gathered[rank][start : start + piece.numel()].to(empty.dtype)
            block = block.view(groups, -1, d + 1)[:, :kept]
            if kept:
                uses.append(Use(block[..., :d].contiguous(), seen, None))
                weights.append(block[0, :, d])
        start += piece.numel()
        joined, _ = join(uses, lambda _: None)
        q = torch.cat(weights)
        found.append(Rows(joined.H, q if joined.q is None else q * joined.q))
    return found


def sum_moments(
    parts: list[tuple[Rows | None, bool, int, int, Tensor]], group: Any
) -> list[Tensor]:
    """For each layer (rows, constant 1, rows seen here, rows seen everywhere, an empty (g, d, d)
    tensor): the mean of h h' over the rows of all ranks, in one message."""
    if not parts:
        return []
    flat = []
    for rows, one, seen, total, empty in parts:
        moment = second_moment(rows, one) * (seen / total) if rows is not None else empty.zero_()
        flat.append(moment.flatten())
    whole = _concatenated(flat)
    dist.all_reduce(whole, group=group)
    pieces = whole.split([f.numel() for f in flat])
    return [p.to(part[4].dtype).view(part[4].shape) for p, part in zip(pieces, parts, strict=True)]


def _concatenated(tensors: list[Tensor]) -> Tensor:
    double = any(t.dtype == torch.float64 for t in tensors)
    return torch.cat([t.to(torch.float64 if double else torch.float32) for t in tensors])


def _all_gather(mine: Tensor, group: Any) -> list[Tensor]:
    out = [torch.empty_like(mine) for _ in range(dist.get_world_size(group))]
    dist.all_gather(out, mine, group=group)
    return out
