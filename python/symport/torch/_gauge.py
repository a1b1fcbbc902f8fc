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
    H, q = rows.H, rows.q
    if one:
        H = torch.nn.functional.pad(H, (0, 1), value=1.0)
    if q is not None:
        H = H * q[:, None]
    return product(H.mT, H).div_(rows.count)


def gram(rows: Rows, one: bool) -> Tensor:
    """K = H H' (+ 1 1' if there is a bias): (g, s, s)."""
    H, q = rows.H, rows.q
    if q is not None:
        H = H * q[:, None]
    K = product(H, H.mT)
    if not one:
        return K
    return K.add_(1) if q is None else K.add_(torch.outer(q, q))


def damped_inverses(
    problems: list[tuple[Tensor, float]],
) -> list[tuple[Tensor | None, Tensor]]:
    """For each (matrices A of some groups, c): (A + lambda I)^-1 by Cholesky, or None if A is not
    finite, and lambda = c tr(A) of each group. lambda is no less than rounding allows, and so large
    where A = 0 that no step is taken. Matrices of one size are solved together, in place."""
    sizes: dict[tuple[int, torch.dtype, torch.device], list[int]] = {}
    for i, (A, _) in enumerate(problems):
        sizes.setdefault((A.shape[-1], A.dtype, A.device), []).append(i)
    solved: dict[int, tuple[Tensor | None, Tensor]] = {}
    for (_, dtype, _), members in sizes.items():
        stack = [problems[i][0] for i in members]
        A = stack[0] if len(stack) == 1 else torch.cat(stack)
        least = 8 * torch.finfo(dtype).eps
        counts = [len(matrices) for matrices in stack]
        factors = [
            max(problems[i][1], least)
            for i, n in zip(members, counts, strict=True)
            for _ in range(n)
        ]
        diagonal = A.diagonal(dim1=-2, dim2=-1)
        damping = diagonal.sum(-1).mul_(A.new_tensor(factors))
        damping.masked_fill_(damping == 0, 1e30)
        diagonal.add_(damping[:, None])
        # On the CPU the upper factor takes less time to find and to invert than the lower one.
        U, info = torch.linalg.cholesky_ex(A, upper=True)
        failed = [any(part) for part in _split(info.tolist(), counts)]
        inverses = torch.cholesky_inverse(U, upper=True).split(counts)
        for i, bad, inverse, value in zip(
            members, failed, inverses, damping.split(counts), strict=True
        ):
            solved[i] = (None if bad else inverse, value)
    return [solved[i] for i in range(len(problems))]


def _split(values: list[int], counts: list[int]) -> list[list[int]]:
    parts, start = [], 0
    for count in counts:
        parts.append(values[start : start + count])
        start += count
    return parts


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
    U = product(torch.cat((G, bias[..., None]), 2), inverse)
    G.copy_(U[..., :-1])
    bias.copy_(U[..., -1])


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
    both = torch.stack((left, right)).double()
    (size, mixed), (_, square) = (both @ both.T).tolist()
    if not 0 < square < float("inf"):
        return None
    c = mixed / square
    eps = torch.finfo(G.dtype).eps
    if G.dtype == torch.float64:  # the squares would cancel
        rest = (left - c * right).square().sum().item()
    else:
        rest = size - c * mixed
    return c if rest <= (1e3 * eps) ** 2 * size else None


def by_delta(G: Tensor, bias: Tensor | None, rows: Rows, inverse: Tensor, multiple: float) -> None:
    """In place G <- c delta' s (K + s l I)^-1 H: the same as `by_rows` for a gradient c delta' H,
    at half the cost and without its cancellation. The inverse is used up."""
    assert rows.delta is not None
    M = torch.mm(rows.delta.T, inverse[0].mul_(multiple * rows.count))
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
