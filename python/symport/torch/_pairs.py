# SPDX-License-Identifier: MIT
"""The step of a pair of factors, such as LoRA's: each by the Gram matrix of the other."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from . import _gauge
from ._find_layers import Pair
from ._layers import is_sharded, local


def step_pair(pair: Pair, damping: float) -> bool:
    """B: G_B (A A' + l I)^-1, A: (B' B + l I)^-1 G_A, l = damping times the mean
    eigenvalue. A factor whose partner is zero takes no step. False: a factor is not finite."""
    factors = []
    for own, other, left in ((pair.B, pair.A, False), (pair.A, pair.B, True)):
        if own.grad is None:
            continue
        dtype = torch.float64 if own.dtype == torch.float64 else torch.float32
        F = _whole(other).flatten(1).to(dtype)
        gram = (F.mT @ F if left else F @ F.mT)[None]
        G = _whole(own.grad).flatten(1).to(dtype)
        ((inverse, _),) = _gauge.damped_inverses([(gram, damping / len(gram[0]))])
        if inverse is None:
            return False
        factors.append((own, inverse[0] @ G if left else G @ inverse[0]))
    for own, G in factors:
        _assign(own, G)
    return True


def _whole(tensor: Tensor) -> Tensor:
    return tensor.full_tensor() if is_sharded(tensor) else tensor


def _assign(parameter: nn.Parameter, whole: Tensor) -> None:
    assert parameter.grad is not None
    whole = whole.reshape(parameter.grad.shape).to(parameter.grad.dtype)
    if is_sharded(parameter.grad):
        from torch.distributed.tensor import distribute_tensor

        grad = parameter.grad
        whole = distribute_tensor(whole, grad.device_mesh, grad.placements)
        local(grad).copy_(local(whole))
    else:
        parameter.grad.copy_(whole)
