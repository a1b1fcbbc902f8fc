# SPDX-License-Identifier: MIT
"""K-FAC, Shampoo and Muon, with the settings of Symport's (include/symport/optimizers): the same
factors, damping and averages, and new inverses or roots after 1, 2, 4, ... and then every REFRESH
steps.

Runs go on from command to command, as Symport's do, until there is another problem. `shampoo` is
that algorithm in plain PyTorch; `scalable` is ScalableShampoo of the package pytorch_optimizer, set
up alike, with roots by Schur and Newton's iteration, the first ones after REFRESH steps. `muon` is
in float, as ours is, and `torch_muon` is torch.optim.Muon, which orthogonalises in bfloat16.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from protocol import SLOPE, timed
from torch import Tensor
from torch.nn.functional import leaky_relu, one_hot
from torch_network import Weights, Work, forward, output_loss

MOMENTUM = 0.9
DAMPING, DECAY = 0.03, 0.95  # K-FAC
EPSILON = 1e-5  # Shampoo: of the largest eigenvalue
MUON_MOMENTUM, MUON_DECAY, REST_RATE = 0.95, 0.1, 0.05


class Refresh:
    """In the beginning when there is twice as much to know as the last time, then every so many
    steps."""

    def __init__(self, steps: int):
        self.steps, self.made, self.since = steps, 0, 0

    def due(self) -> bool:
        self.made += 1
        self.since += 1
        if self.since < min(self.made - self.since, self.steps):
            return False
        self.since = 0
        return True


def errors_of(out: Tensor, target: Tensor) -> Tensor:
    """dL/dz of every sample at the outputs, for cross-entropy."""
    return out.softmax(1) - one_hot(target, out.shape[1]).to(out.dtype)


def sampled_classes(out: Tensor, uniform: Tensor) -> Tensor:
    """Classes from the model's own probabilities, by uniform numbers from 0 to 1."""
    return (out.softmax(1).cumsum(1) < uniform).sum(1).clamp(max=out.shape[1] - 1)


def states(weights: Weights, X: Tensor, target: Tensor, uniform: Tensor | None):
    """The loss, the inputs of every layer, its dL/dz for every sample, and the same with classes
    from the model (`uniform` is None: with those of the batch)."""
    with torch.enable_grad():
        h, z = forward([weights[0].detach().requires_grad_(), *weights[1:]], X)
        z.append(h[-1] @ weights[-1].T)
        value = output_loss(z[-1], target)
        deltas = torch.autograd.grad(value, z, retain_graph=True)
        deltas = [len(X) * delta for delta in deltas]
        if uniform is None:
            return value, h, deltas, deltas
        with torch.no_grad():
            errors = errors_of(z[-1], sampled_classes(z[-1], uniform))
        return value, h, deltas, torch.autograd.grad(z[-1], z, errors)


def functional_states(weights: Weights, X: Tensor, target: Tensor, uniform: Tensor | None):
    """The same by torch.func, in shifts of the pre-activations."""

    def shifted(shifts: Weights) -> tuple[Tensor, Weights]:
        h = [X]
        for W, shift in zip(weights[:-1], shifts[:-1], strict=True):
            h.append(leaky_relu(h[-1] @ W.T + shift, SLOPE))
        return h[-1] @ weights[-1].T + shifts[-1], h

    shifts = [torch.zeros(len(X), len(W), dtype=W.dtype) for W in weights]
    out, back, h = torch.func.vjp(shifted, shifts, has_aux=True)
    (deltas,) = back(errors_of(out, target))
    value = output_loss(out, target)
    if uniform is None:
        return value, h, deltas, deltas
    (models,) = back(errors_of(out, sampled_classes(out, uniform)))
    return value, h, deltas, models


def average(A: Weights, G: Weights, h: Weights, deltas: Weights, e: float) -> None:
    """A <- e A + (1 - e) mean(h h'), and G the same with delta."""
    for factors, rows in ((A, h), (G, deltas)):
        for M, x in zip(factors, rows, strict=True):
            M.addmm_(x.T, x, beta=e, alpha=(1 - e) / len(x))


def directions(h: Weights, deltas: Weights, A_inverse: Weights, G_inverse: Weights) -> Weights:
    """U = G^-1 mean(delta h') A^-1, whichever order has fewer products."""
    U = []
    for x, delta, A, G in zip(h, deltas, A_inverse, G_inverse, strict=True):
        n, a, g = len(x), len(A), len(G)
        if n * (a * a + g * g) < a * g * (a + g):
            U.append((delta @ (G / n)).T @ (x @ A))
        else:
            U.append(G @ (delta.T @ x / n) @ A)
    return U


class Kfac:
    def __init__(self, work: Work, refresh: int, sampled: bool):
        self.work, self.sampled = work, sampled
        self.weights = [W.clone() for W in work.p.weights]
        self.velocity = [torch.zeros_like(W) for W in self.weights]
        self.A = [W.new_zeros(W.shape[1], W.shape[1]) for W in self.weights]
        self.G = [W.new_zeros(W.shape[0], W.shape[0]) for W in self.weights]
        self.inverses: tuple[Weights, Weights] = [], []
        self.refresh = Refresh(refresh)
        self.random = torch.Generator().manual_seed(1)
        self.states = work.choose(states, functional_states)
        self.directions = work.compile_(directions)

    @torch.no_grad()
    def step(self, rate: float) -> Tensor:
        p, uniform = self.work.p, None
        if self.sampled:
            uniform = torch.rand(len(p.X), 1, generator=self.random, dtype=p.X.dtype)
        value, h, deltas, models = self.states(self.weights, p.X, p.target, uniform)
        average(self.A, self.G, h, models, min(1 - 1 / (self.refresh.made + 1), DECAY))
        if self.refresh.due():
            self.invert()
        U = self.directions(h, deltas, *self.inverses)
        torch._foreach_mul_(self.velocity, MOMENTUM)
        torch._foreach_add_(self.velocity, U)
        torch._foreach_add_(self.weights, self.velocity, alpha=-rate)
        return value

    def invert(self) -> None:
        A_inverse, G_inverse = self.inverses
        A_inverse.clear()
        G_inverse.clear()
        for A, G in zip(self.A, self.G, strict=True):
            pi = ((A.trace() / len(A)) / (G.trace() / len(G))).sqrt()
            A_inverse.append(inverse_of(A, pi * DAMPING**0.5))
            G_inverse.append(inverse_of(G, DAMPING**0.5 / pi))


def inverse_of(M: Tensor, shift: Tensor) -> Tensor:
    M = M.clone()
    M.diagonal().add_(shift)
    return torch.cholesky_inverse(torch.linalg.cholesky(M))


def preconditioned(gradient: Weights, L_roots: Weights, R_roots: Weights) -> Weights:
    """P = L^-1/4 G R^-1/4 with the length of G."""
    P = []
    for G, L, R in zip(gradient, L_roots, R_roots, strict=True):
        one = L @ G @ R
        P.append(one * (torch.linalg.vector_norm(G) / torch.linalg.vector_norm(one)))
    return P


class Shampoo:
    def __init__(self, work: Work, refresh: int):
        self.work = work
        self.weights = work.p.trainable()
        self.velocity = [torch.zeros_like(W) for W in work.p.weights]
        self.L = [W.new_zeros(W.shape[0], W.shape[0]) for W in work.p.weights]
        self.R = [W.new_zeros(W.shape[1], W.shape[1]) for W in work.p.weights]
        self.roots: tuple[Weights, Weights] = [], []
        self.refresh = Refresh(refresh)
        self.preconditioned = work.compile_(preconditioned)

    def step(self, rate: float) -> Tensor:
        p = self.work.p
        value = self.work.loss(self.weights, p.X, p.target)
        gradient = torch.autograd.grad(value, self.weights)
        with torch.no_grad():
            for L, R, G in zip(self.L, self.R, gradient, strict=True):
                L.addmm_(G, G.T)
                R.addmm_(G.T, G)
            if self.refresh.due():
                for roots, statistics in zip(self.roots, (self.L, self.R), strict=True):
                    roots[:] = [root_of(M) for M in statistics]
            torch._foreach_mul_(self.velocity, MOMENTUM)
            torch._foreach_add_(self.velocity, self.preconditioned(gradient, *self.roots))
            torch._foreach_add_(self.weights, self.velocity, alpha=-rate)
        return value


def root_of(M: Tensor) -> Tensor:
    """(M + epsilon lambda_max I)^-1/4. Of a singular matrix in float, eigh fails or answers NaN now
    and then; of the shifted one it does not."""
    shift = 1e-6 * M.trace()
    values, vectors = torch.linalg.eigh(M + shift * torch.eye(len(M), dtype=M.dtype))
    values = (values - shift).clamp(min=0)
    return (vectors * (values + EPSILON * values[-1]).pow(-0.25)) @ vectors.T


class Scalable:
    def __init__(self, work: Work, refresh: int):
        from pytorch_optimizer import ScalableShampoo

        self.work = work
        self.weights = work.p.trainable()
        self.optimizer = ScalableShampoo(
            self.weights,
            betas=(MOMENTUM, 0.999),  # sums of statistics are refused; they cost the same
            start_preconditioning_step=1,
            preconditioning_compute_steps=refresh,
            statistics_compute_steps=1,
            block_size=2048,
            shape_interpretation=False,
            nesterov=False,
            matrix_eps=EPSILON,
        )

    def step(self, rate: float) -> Tensor:
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.zero_grad()
        value = self.work.loss(self.weights, self.work.p.X, self.work.p.target)
        value.backward()
        self.optimizer.step()
        return value


def orthogonal(matrices: Weights) -> Weights:
    """Five steps of Newton and Schulz's iteration, on the shorter side."""
    result = []
    for N in matrices:
        tall = N.shape[0] > N.shape[1]
        X = N.T if tall else N
        X = X / torch.linalg.vector_norm(X).clamp(min=1e-7)
        for _ in range(5):
            K = X @ X.T
            X = torch.addmm(X, torch.addmm(K, K, K, beta=-4.7750, alpha=2.0315), X, beta=3.4445)
        result.append(X.T if tall else X)
    return result


class Muon:
    """For all matrices but the last, and AdamW for that one."""

    def __init__(self, work: Work, of_torch: bool):
        self.work = work
        self.weights = work.p.trainable()
        *self.matrices, head = self.weights
        self.average = [torch.zeros_like(W) for W in self.matrices]
        self.head = torch.optim.AdamW([head])
        self.orthogonal = work.compile_(orthogonal)
        self.of_torch = None
        if of_torch:
            self.of_torch = torch.optim.Muon(self.matrices, weight_decay=MUON_DECAY)

    def step(self, rate: float) -> Tensor:
        p = self.work.p
        value = self.work.loss(self.weights, p.X, p.target)
        *gradient, of_head = torch.autograd.grad(value, self.weights)
        self.weights[-1].grad = of_head
        self.head.param_groups[0]["lr"] = REST_RATE * rate
        self.head.step()
        if self.of_torch:
            for W, G in zip(self.matrices, gradient, strict=True):
                W.grad = G
            self.of_torch.param_groups[0]["lr"] = rate
            self.of_torch.step()
            return value
        with torch.no_grad():
            torch._foreach_lerp_(self.average, gradient, 1 - MUON_MOMENTUM)
            ahead = torch._foreach_lerp(gradient, self.average, MUON_MOMENTUM)
            torch._foreach_mul_(self.matrices, 1 - rate * MUON_DECAY)
            for W, X in zip(self.matrices, self.orthogonal(ahead), strict=True):
                W.add_(X, alpha=-rate * max(1, W.shape[0] / W.shape[1]) ** 0.5)
        return value


class Preconditioned:
    def __init__(self, work: Work):
        self.work = work
        self.runs: dict[Any, Any] = {}
        work.forgetting.append(self.runs.clear)

    def go_on(self, key: Any, make: Callable[[], Any], steps: str, rate: str):
        if key not in self.runs:
            self.runs[key] = make()
        run = self.runs[key]

        def work() -> float:
            for _ in range(int(steps)):
                value = run.step(float(rate))
            return value.item()

        return timed(work)

    def kfac(self, steps: str, rate: str, refresh: str, fisher: str):
        sampled = {"sampled": True, "empirical": False}[fisher]
        make = partial(Kfac, self.work, int(refresh), sampled)
        return self.go_on(("kfac", refresh, fisher), make, steps, rate)

    def shampoo(self, steps: str, rate: str, refresh: str):
        make = partial(Shampoo, self.work, int(refresh))
        return self.go_on(("shampoo", refresh), make, steps, rate)

    def scalable(self, steps: str, rate: str, refresh: str):
        if self.work.compiled:
            raise NotImplementedError("its step is a package's, and is not compiled")
        make = partial(Scalable, self.work, int(refresh))
        return self.go_on(("scalable", refresh), make, steps, rate)

    def muon(self, steps: str, rate: str):
        return self.go_on("muon", partial(Muon, self.work, False), steps, rate)

    def torch_muon(self, steps: str, rate: str):
        if self.work.compiled:
            raise NotImplementedError("its step is a package's, and is not compiled")
        return self.go_on("torch_muon", partial(Muon, self.work, True), steps, rate)

    def commands(self) -> dict[str, Callable[..., Any]]:
        names = ("kfac", "shampoo", "scalable", "muon", "torch_muon")
        return {name: getattr(self, name) for name in names}
