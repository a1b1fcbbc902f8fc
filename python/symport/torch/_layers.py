# SPDX-License-Identifier: MIT
"""The layers that a round trip steps: which rows their inputs have, and their gradients as
matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ._gauge import Rows

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)

# Indices of the rows to keep of so many, or None for all of them.
Choice = Callable[[int], "Tensor | None"]


class Use(NamedTuple):
    """What one call of a layer contributed: some of its `total` rows, (g, s, d)."""

    H: Tensor
    total: int
    delta: Tensor | None


class Layer:
    """A weight that one or several modules multiply their inputs with, and its bias if it has one.

    The gradient as a matrix is (groups, outputs, inputs); `transposed` weights have the inputs
    first.
    """

    def __init__(self, name: str, modules: list[nn.Module]):
        module = modules[0]
        self.name = name
        self.modules = modules
        self.kind = type(module).__name__
        self.weight: nn.Parameter = module.weight  # type: ignore[assignment]
        self.transposed = isinstance(module, TRANSPOSED) or is_transposed_linear(module)
        self.groups = getattr(module, "groups", 1)
        biases = {id(m.bias): m.bias for m in modules}
        bias = next(iter(biases.values())) if len(biases) == 1 else None
        # A transposed convolution adds its bias once an output, not once a row of its input.
        self.bias: nn.Parameter | None = None if isinstance(module, TRANSPOSED) else bias
        shape = self.weight.shape
        if self.transposed:
            self.inputs, self.outputs = shape[0] // self.groups, shape[1:].numel()
        else:
            self.inputs, self.outputs = shape[1:].numel(), shape[0] // self.groups
        self.uses: list[Use] = []
        #: Of the weight at the last backward(); None before it, and for shards.
        self.version: int | None = None
        #: The backward pass that wrote the white direction to .grad, until step(); see _fused.py.
        self.fused: int | None = None
        self.unsolved = False

    @property
    def steps_bias(self) -> bool:
        return self.bias is not None and self.bias.requires_grad

    @property
    def dimension(self) -> int:
        return self.inputs + int(self.steps_bias)

    @property
    def statistics_dtype(self) -> torch.dtype:
        return torch.float64 if self.weight.dtype == torch.float64 else torch.float32

    def parameters(self) -> list[nn.Parameter]:
        return [self.weight, self.bias] if self.steps_bias else [self.weight]  # type: ignore[list-item]

    def rows(self, module: nn.Module, x: Tensor, choose: Choice) -> tuple[Tensor, int]:
        """The chosen rows of the input, (g, s, d), and how many there were to choose from.

        A copy where the input is not a result of this forward pass: its owner may write the next
        batch over it before step(). Results are kept by autograd, which refuses a backward pass
        after they changed."""
        own = x.grad_fn is not None
        x = x.detach()
        if isinstance(module, CONVOLUTIONS):
            rows, total = _pick(_windows(module, x), len(module.kernel_size) + 1, choose)
        elif isinstance(module, TRANSPOSED):
            x = x if x.dim() == len(module.kernel_size) + 2 else x[None]
            rows, total = _pick(x.movedim(1, -1), x.dim() - 1, choose)
        else:
            rows, total = _pick(x.reshape(-1, x.shape[-1]), 1, choose)
        return self._grouped(rows, copy=len(rows) == total and not own), total

    def _grouped(self, rows: Tensor, copy: bool) -> Tensor:
        rows = rows.reshape(len(rows), self.groups, self.inputs).transpose(0, 1)
        return rows.to(self.statistics_dtype, copy=copy).contiguous()

    def gradient(self) -> tuple[Tensor, Tensor | None, bool]:
        """Weight's gradient (g, o, d) and bias's (g, o), of the rows on this rank where they are
        sharded; whether they are the gradients themselves (else they are copies, and `write` is
        needed)."""
        grad = local(self.weight.grad)
        bias = local(self.bias.grad) if self.steps_bias else None  # type: ignore[union-attr]
        dtype = self.statistics_dtype
        if not self.transposed and grad.dtype == dtype and grad.is_contiguous():
            own = bias is None or bias.is_contiguous()
            outputs = grad.shape[0] // self.groups
            G = grad.view(self.groups, outputs, self.inputs)
            return G, bias.reshape(self.groups, -1) if bias is not None else None, own
        if self.transposed:
            G = grad.reshape(self.groups, self.inputs, -1).mT
        else:
            G = grad.reshape(self.groups, -1, self.inputs)
        G = G.to(dtype, copy=True, memory_format=torch.contiguous_format)
        if bias is not None:
            bias = bias.reshape(self.groups, -1).to(dtype, copy=True)
        return G, bias, False

    def write(self, G: Tensor, bias: Tensor | None) -> None:
        grad = local(self.weight.grad)
        grad.copy_((G.mT if self.transposed else G).reshape(grad.shape))
        if bias is not None:
            target = local(self.bias.grad)  # type: ignore[union-attr]
            target.copy_(bias.reshape(target.shape))

    def take(self, choose: Choice) -> tuple[Rows, int] | None:
        """The rows of all uses since the last step as one set, and how many they stand for."""
        uses, self.uses = self.uses, []
        return join(uses, choose) if uses else None


def join(uses: list[Use], choose: Choice) -> tuple[Rows, int]:
    """Rows of several uses, with weights so that each row of each use counts the same."""
    total = sum(use.total for use in uses)
    kept = [use.H.shape[1] for use in uses]
    whole = sum(kept) == total
    if len(uses) == 1:
        return Rows(uses[0].H, None, uses[0].delta if whole else None), total
    H = torch.cat([use.H for use in uses], 1)
    q = None
    if not whole:
        share = [use.total / k for k, use in zip(kept, uses, strict=True)]
        q = H.new_tensor(share).repeat_interleave(torch.tensor(kept, device=H.device))
    index = choose(H.shape[1])
    if index is not None:
        index = index.to(H.device)
        H, q = H[:, index], None if q is None else q[index]
    if q is not None:
        q = (q / q.mean()).sqrt()
    deltas = [use.delta for use in uses if use.delta is not None]
    known = whole and index is None and len(deltas) == len(uses)
    return Rows(H, q, torch.cat(deltas) if known else None), total


def local(tensor: Tensor | None) -> Tensor:
    """The part of a sharded tensor on this rank (FSDP2); any other tensor as it is."""
    assert tensor is not None
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def is_sharded(parameter: Tensor) -> bool:
    return hasattr(parameter, "to_local")


def is_transposed_linear(module: nn.Module) -> bool:
    """Hugging Face's Conv1D: a linear layer with weight (inputs, outputs)."""
    return type(module).__name__ == "Conv1D" and type(module).__module__.startswith("transformers.")


def is_linear_map(module: nn.Module) -> bool:
    kinds = (nn.Linear, *CONVOLUTIONS, *TRANSPOSED)
    return isinstance(module, kinds) or is_transposed_linear(module)


def _windows(module: nn.Module, x: Tensor) -> Tensor:
    """All patches that a convolution multiplies, as a view (samples, positions ..., channels,
    kernel ...) of the
    padded input."""
    sides = len(module.kernel_size)
    if x.dim() == sides + 1:
        x = x[None]
    pad = module._reversed_padding_repeated_twice
    if any(pad):
        mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
        x = F.pad(x, pad, mode=mode)
    for i in range(sides):
        kernel, dilation = module.kernel_size[i], module.dilation[i]
        x = x.unfold(2 + i, (kernel - 1) * dilation + 1, module.stride[i])
        x = x[..., ::dilation]
    return x.movedim(1, sides + 1)


def _pick(x: Tensor, axes: int, choose: Choice) -> tuple[Tensor, int]:
    """The chosen ones of the rows that the first axes count, and how many there are."""
    total = x.shape[:axes].numel()
    index = choose(total)
    if index is None:
        return x.reshape(total, -1), total
    if axes == 1:
        return x.index_select(0, index.to(x.device)), total
    coordinates = torch.unravel_index(index, x.shape[:axes])
    return x[tuple(c.to(x.device) for c in coordinates)], total
