# SPDX-License-Identifier: MIT
"""The mathematics of a borrowed gauge.

Shapes: weights, gradients and steps are (n, o, d), n matrices with o outputs and d inputs each;
second moments A and gauges g are (n, k, s, s), the inputs in k blocks of s, the last of which is
filled up with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn import functional as F

#: Inputs up to this number are one block, even where a layer has fewer outputs.
BLOCK = 512


def blocks(outputs: int, inputs: int) -> tuple[int, int]:
    """(k, s): the inputs of a layer in blocks of at most its width."""
    k = -(-inputs // max(outputs, BLOCK))
    return k, -(-inputs // k)


def split(X: Tensor, k: int, s: int) -> Tensor:
    """(n, m, d) -> (n, k, m, s)."""
    n, m, d = X.shape
    return F.pad(X, (0, k * s - d)).view(n, m, k, s).transpose(1, 2)


def with_one(H: Tensor, k: int, s: int) -> Tensor:
    """Rows (n, m, d) as (n, k, m, s + 1), each block with a 1 at its end. Rows of zeros are padding
    and stay zero; where a row is not finite, all rows of that matrix are."""
    sizes = torch.linalg.vector_norm(H, dim=-1, keepdim=True)
    finite = sizes.sum(1, keepdim=True).isfinite()
    one = ((sizes > 0) & finite).to(H.dtype)[:, None].expand(-1, k, -1, -1)
    return torch.cat([split(H.masked_fill(~finite, 0), k, s), one], -1)


def make(A: Tensor, rows: Tensor, damping: float, power: float, kept: bool) -> Tensor:
    """g = c (A + lambda I)^-power, lambda = (damping + s / rows) tr(A) / s, which fades g out where
    few rows are behind A (n,). c is 1 or, if lengths are `kept`, such that tr(A g^2) = tr(A). The
    identity where A is zero."""
    s = A.shape[-1]
    mean = A.diagonal(dim1=-2, dim2=-1).mean(-1)[..., None]
    zero = mean == 0
    share = damping + s / rows[:, None].clamp(min=1e-9)
    share = share.clamp(min=s * torch.finfo(A.dtype).eps)
    unit = torch.eye(s).to(A)
    # In units of the mean, with lambda added: bounded, and well away from singular.
    B = torch.where(zero[..., None], unit, A / mean[..., None]) + share[..., None, None] * unit
    values, vectors = torch.linalg.eigh(B)
    powers = values.clamp(min=1e-30) ** -power * mean**-power
    if kept:
        squares = (vectors * (A @ vectors)).sum(-2).clamp(min=0)
        wanted, found = (x.sum((1, 2))[:, None, None] for x in (squares, squares * powers**2))
        powers = powers * (wanted / found).where(found > 0, 1).sqrt()
    return (vectors * powers.where(~zero, 1)[..., None, :]) @ vectors.mT


def times(X: Tensor, g: Tensor) -> Tensor:
    """X g, (n, o, d)."""
    g = g.to(X)
    n, k, s, _ = g.shape
    if k == 1:
        return X @ g[:, 0]
    return (split(X, k, s) @ g).transpose(1, 2).reshape(n, X.shape[1], k * s)[..., : X.shape[2]]


def identity(like: Tensor) -> Tensor:
    return torch.eye(like.shape[-1]).to(like).expand_as(like)


def over(new: Tensor, old: Tensor) -> Tensor:
    """old^-1 new."""
    factor, _ = torch.linalg.cholesky_ex(old.to(new))
    return torch.cholesky_solve(new, factor)


@contextmanager
def full_precision(device: str) -> Iterator[None]:
    """No autocast, and no TF32 or bfloat16 inside of float32 products."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.autocast(device_type=device, enabled=False):
            yield
    finally:
        torch.set_float32_matmul_precision(before)
