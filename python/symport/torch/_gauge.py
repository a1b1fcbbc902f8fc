# SPDX-License-Identifier: MIT
"""The linear algebra of a round trip: gradient times (A + lambda I)^-1, A the mean of h h'.

Shapes: g groups (1 except for grouped convolutions), s rows, d inputs, o outputs of a group.
H is (g, s, d), G is (g, o, d), a bias's gradient is (g, o). The constant 1 of a bias is never
stored as a column: it enters as the border of a Gram matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class Rows:
    """Rows of a layer's input. Row r counts with weight q[r]^2 (None: 1), and A = H' diag(q^2) H /
    s."""

    H: Tensor
    q: Tensor | None = None
    delta: Tensor | None = (
        None  # (s, o): the gradient is a multiple of delta' [H 1]; None: not known
    )

    @property
    def count(self) -> int:
        return self.H.shape[1]

    def weighted(self) -> tuple[Tensor, Tensor]:
        """q H, and q itself: the column of the constant 1."""
        if self.q is None:
            return self.H, self.H.new_ones(self.count)
        return self.H * self.q[:, None], self.q


def product(X: Tensor, Y: Tensor) -> Tensor:
    """The batched product; one matrix alone is faster as such."""
    return torch.mm(X[0], Y[0])[None] if len(X) == 1 else torch.bmm(X, Y)


def second_moment(rows: Rows, one: bool) -> Tensor:
    """A = H' H / s of the rows, with the constant 1 as the last input if there is a bias."""
    H, q = rows.weighted()
    groups, s, d = H.shape
    if not one:
        return product(H.mT, H).div_(s)
    A = H.new_empty(groups, d + 1, d + 1)
    A[:, :d, :d] = product(H.mT, H)
    A[:, d, :d] = A[:, :d, d] = torch.matmul(q, H)
    A[:, d, d] = q @ q
    return A.div_(s)


def gram(rows: Rows, one: bool) -> Tensor:
    """K = H H' (+ 1 1' if there is a bias): (g, s, s)."""
    H, q = rows.weighted()
    K = product(H, H.mT)
    if not one:
        return K
    return K.add_(1) if rows.q is None else K.add_(torch.outer(q, q))


def relative_damping(matrices: Tensor, damping: float, rank: int) -> Tensor:
    """lambda of each group: damping times the mean of the eigenvalues that can be non-zero, and no
    less than rounding allows in a Cholesky factorisation. Where A = 0 it is so large that no step
    is taken."""
    least = 8 * torch.finfo(matrices.dtype).eps
    value = matrices.diagonal(dim1=-2, dim2=-1).sum(-1).mul_(max(damping / rank, least))
    return value.masked_fill_(value == 0, 1e30)


def damped_inverse(matrices: Tensor, damping: Tensor) -> Tensor | None:
    """(A + lambda I)^-1 by Cholesky, in place of A; None if A is not finite."""
    matrices.diagonal(dim1=-2, dim2=-1).add_(damping[:, None])
    factor, info = torch.linalg.cholesky_ex(matrices)
    return None if info.any().item() else torch.cholesky_inverse(factor)


def by_rows(G: Tensor, bias: Tensor | None, rows: Rows, inverse: Tensor, damping: Tensor) -> None:
    """In place G <- G (A + l I)^-1 with fewer rows than inputs: `inverse` is (K + s l I)^-1, and
    (A + l I)^-1 = (I - H' (K + s l I)^-1 H) / l."""
    H, q = rows.weighted()
    B = product(G, H.mT)
    if bias is not None:
        B.add_(bias[..., None] * q)
    B = product(B, inverse)
    if bias is not None:
        bias.sub_(torch.matmul(B, q)).div_(damping[:, None])
    if len(G) == 1:
        factor = 1 / damping.item()
        G[0].addmm_(B[0], H[0], beta=factor, alpha=-factor)
    else:
        G.baddbmm_(B, H, alpha=-1).div_(damping[:, None, None])


def by_inputs(G: Tensor, bias: Tensor | None, inverse: Tensor) -> None:
    """In place [G bias] <- [G bias] times the inverse, (g, d, d) or with the constant 1 as last."""
    if bias is None:
        G.copy_(product(G, inverse))
        return
    d = G.shape[2]
    new_G = torch.baddbmm(bias[..., None] * inverse[:, None, d, :d], G, inverse[:, :d, :d])
    bias.mul_(inverse[:, d, d, None]).add_(torch.matmul(G, inverse[:, :d, d, None]).squeeze(-1))
    G.copy_(new_G)


def multiple_of(G: Tensor, bias: Tensor | None, rows: Rows, probe: Tensor) -> float | None:
    """The number c with [G bias] = c delta' [H 1], or None if there is none.

    Both sides are compared on one random vector (Freivalds' check), which costs next to nothing. A
    gradient that was clipped or scaled passes; one with weight decay, noise or rows of other origin
    in it does not.
    """
    assert rows.delta is not None
    d = G.shape[2]
    left = torch.mv(G[0], probe[:d])
    right = torch.mv(rows.H[0], probe[:d])
    if bias is not None:
        left.add_(bias[0])  # the probe of the constant 1 is 1
        right.add_(1)
    right = torch.mv(rows.delta.T, right)
    square = torch.dot(right, right).item()
    if not 0 < square < float("inf"):
        return None
    c = torch.dot(left, right).item() / square
    size = torch.linalg.vector_norm(left).item()
    rest = torch.linalg.vector_norm(left.sub_(right, alpha=c)).item()
    return c if rest <= 1e3 * torch.finfo(G.dtype).eps * size else None


def by_delta(G: Tensor, bias: Tensor | None, rows: Rows, inverse: Tensor, multiple: float) -> None:
    """In place G <- c delta' s (K + s l I)^-1 H: the same as `by_rows` for a gradient c delta' H,
    at half the cost
    and without its cancellation."""
    assert rows.delta is not None
    M = torch.mm(rows.delta.T, inverse[0]).mul_(multiple * rows.count)
    if bias is not None:
        bias[0] = M.sum(1)
    torch.mm(M, rows.H[0], out=G[0])


def largest_share(A: Tensor, inverse: Tensor, iterations: int = 8) -> float:
    """The largest eigenvalue of A times an inverse that is not its own, over groups by power
    iteration: how much more than a step in the gauge of A this one may move an output."""
    v = A.sum(2, keepdim=True)
    share = v.new_zeros(len(A))
    for _ in range(iterations):
        x = torch.bmm(inverse, v)
        Ax = torch.bmm(A, x)
        tiny = torch.finfo(v.dtype).tiny
        share = (x * Ax).sum((1, 2)) / (x * v).sum((1, 2)).clamp_min(tiny)  # Rayleigh's quotient
        v = Ax / Ax.norm(dim=(1, 2), keepdim=True).clamp_min(tiny)
    return share.max().item()
