# SPDX-License-Identifier: MIT
"""The rows that a layer multiplies with its weight: samples, tokens or patches."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)


class Choice:
    """Every m-th row, at most `limit` in all. Where to begin moves from step to step, so that all
    rows have their turn."""

    def __init__(self, limit: int | None):
        self.limit = limit
        self.step = 0

    def __call__(self, total: int) -> slice | None:
        if self.limit is None or total <= self.limit:
            return None
        stride = -(-total // self.limit)
        return slice((self.step * 2654435761) % stride, None, stride)


def rows_of(module: nn.Module, x: Tensor, groups: int, choose: Choice) -> Tensor:
    """The chosen rows of the input of a layer, (groups, m, d)."""
    x = x.detach()
    if isinstance(module, CONVOLUTIONS):
        rows = _pick(_windows(module, x), len(module.kernel_size) + 1, choose)
    elif isinstance(module, TRANSPOSED):
        x = x if x.dim() == len(module.kernel_size) + 2 else x[None]
        rows = _pick(x.movedim(1, -1), x.dim() - 1, choose)
    else:
        rows = _pick(x.reshape(-1, x.shape[-1]), 1, choose)
    rows = rows.reshape(len(rows), groups, -1).transpose(0, 1)
    return rows.to(torch.float64 if rows.dtype == torch.float64 else torch.float32)


def _pick(x: Tensor, axes: int, choose: Choice) -> Tensor:
    """The chosen ones of the rows that the first axes count."""
    total = x.shape[:axes].numel()
    chosen = choose(total)
    if chosen is None:
        return x.reshape(total, -1)
    if axes == 1:
        return x[chosen]
    index = torch.arange(chosen.start, total, chosen.step, device=x.device)
    return x[torch.unravel_index(index, x.shape[:axes])].flatten(1)


def _windows(module: nn.Module, x: Tensor) -> Tensor:
    """All patches that a convolution multiplies, as a view of the padded input: (samples,
    positions ..., channels, kernel ...)."""
    sides = len(module.kernel_size)
    x = x if x.dim() == sides + 2 else x[None]
    pad = module._reversed_padding_repeated_twice
    if any(pad):
        mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
        x = F.pad(x, pad, mode=mode)
    for i in range(sides):
        kernel, dilation = module.kernel_size[i], module.dilation[i]
        x = x.unfold(2 + i, (kernel - 1) * dilation + 1, module.stride[i])[..., ::dilation]
    return x.movedim(1, sides + 1)
