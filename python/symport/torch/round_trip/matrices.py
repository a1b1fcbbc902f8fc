# SPDX-License-Identifier: MIT
"""A parameter as the matrices that its inputs are multiplied with."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from .source import Source


@dataclass(eq=False)
class Matrices:
    """n matrices (o, d) in one parameter: groups of a convolution, experts, or just one. Where
    `inputs_first`, the parameter has them transposed."""

    name: str
    module: nn.Module
    key: str
    n: int
    outputs: int
    inputs: int
    inputs_first: bool = False
    source: Source | None = None
    parameter: nn.Parameter = field(init=False)

    def __post_init__(self) -> None:
        self.parameter = self.module._parameters[self.key]  # type: ignore[assignment]

    def of(self, tensor: Tensor) -> Tensor:
        """A tensor of the parameter's shape as (n, o, d), in the precision of products. Shards are
        rows of the parameter: where these are inputs, the ranks put the tensor together."""
        if self.inputs_first:
            tensor = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
            tensor = tensor.reshape(self.n, self.inputs, -1).mT
        else:
            tensor = local(tensor).reshape(self.n, -1, self.inputs)
        return tensor.to(torch.float64 if tensor.dtype == torch.float64 else torch.float32)

    def write(self, X: Tensor, tensor: Tensor) -> None:
        """tensor <- X, the inverse of `of`."""
        if not self.inputs_first:
            here = local(tensor)
            here.copy_(X.reshape(here.shape))
            return
        X = X.mT.reshape(tensor.shape).to(tensor.dtype)
        if hasattr(tensor, "placements"):
            from torch.distributed.tensor import distribute_tensor

            X = local(distribute_tensor(X, tensor.device_mesh, tensor.placements))
        local(tensor).copy_(X)


def local(tensor: Tensor) -> Tensor:
    """The part of a sharded tensor on this rank; any other tensor as it is."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor
