# SPDX-License-Identifier: MIT
"""Teleports of the network: GL by ascent and by rescaling, and gradient descent with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from protocol import SLOPE, timed
from torch import Tensor
from torch.nn.functional import leaky_relu
from torch_network import Problem, Weights, Work, forward, loss, total


def moved(weights: Weights, h: Weights, z: Weights, inverses: Weights, T: Weights) -> Weights:
    """W'_m = (W_m + (z'_m - z_m) l_(m-1)) g_(m-1)^-1 with g_m = I + T_m (rows are samples)."""
    result, undo = [], None
    for m, W in enumerate(weights):
        g = None
        if m < len(T):
            g = torch.eye(len(T[m]), dtype=W.dtype) + T[m]
            there = leaky_relu(h[m + 1] @ g.T, 1 / SLOPE)
            W = W + (there - z[m]).T @ inverses[m].T
        result.append(W if undo is None else W @ undo)
        undo = None if g is None else torch.linalg.inv(g)
    return result


def states_of(weights: Weights, X: Tensor, inputs_inverse: Tensor) -> tuple[Weights, ...]:
    h, z = forward(weights, X)
    return h, z, [inputs_inverse] + [torch.linalg.pinv(state) for state in h[1:-1]]


def ascent(weights, X, target, inputs_inverse, rate: float) -> tuple[Tensor, Weights, Any]:
    """The objective of a teleport at the weights, its gradient in T at 0 by autograd, and the
    states, which a step needs too."""
    h, z, inverses = states_of(weights, X, inputs_inverse)
    T = [torch.zeros(len(W), len(W), dtype=W.dtype, requires_grad=True) for W in weights[:-1]]
    W = moved(weights, h, z, inverses, T)
    gradient = torch.autograd.grad(loss(W, X, target), W, create_graph=True)
    value = J = total(gradient)
    if rate > 0:
        Hg = torch.autograd.grad(J, W, create_graph=True)  # 2 H g
        Phi = sum(0.5 * (G * H).sum() for G, H in zip(gradient, Hg, strict=True))
        value = rate * J - 0.5 * rate * rate * Phi
    return value.detach(), list(torch.autograd.grad(value, T)), (h, z, inverses)


def functional_ascent(weights, X, target, inputs_inverse, rate: float):
    """The same by torch.func."""
    h, z, inverses = states_of(weights, X, inputs_inverse)

    def squares(W: Weights) -> Tensor:
        return total(torch.func.grad(loss)(W, X, target))

    def objective(T: Weights) -> Tensor:
        W = moved(weights, h, z, inverses, T)
        if rate == 0:
            return squares(W)
        gradient = torch.func.grad(loss)(W, X, target)
        Hg = torch.func.grad(squares)(W)
        Phi = sum(0.5 * (G * H).sum() for G, H in zip(gradient, Hg, strict=True))
        return rate * total(gradient) - 0.5 * rate * rate * Phi

    T = [torch.zeros(len(W), len(W), dtype=W.dtype) for W in weights[:-1]]
    gradient, value = torch.func.grad_and_value(objective)(T)
    return value, gradient, (h, z, inverses)


def rescaled(weights: Weights, gradient: Any, kappa: float) -> Weights:
    """Every hidden unit to the end of [1/kappa, kappa] that maximises J, bottom-up."""
    W, G = list(weights), list(gradient)
    for m in range(len(W) - 1):
        rows, columns = G[m].square().sum(1), G[m + 1].square().sum(0)
        s = torch.where(columns >= rows, kappa, 1 / kappa).to(W[m].dtype)
        W[m], W[m + 1] = W[m] * s[:, None], W[m + 1] / s
        G[m], G[m + 1] = G[m] / s[:, None], G[m + 1] * s
    return W


def measures(weights: Weights, X, target) -> tuple[Tensor, Tensor, Tensor]:
    """Loss, J and Phi."""
    W = [w.detach().requires_grad_() for w in weights]
    value = loss(W, X, target)
    gradient = torch.autograd.grad(value, W, create_graph=True)
    J = total(gradient)
    Hg = torch.autograd.grad(J, W)
    return value, J, sum(0.5 * (G * H).sum() for G, H in zip(gradient, Hg, strict=True))


def functional_measures(weights: Weights, X, target) -> tuple[Tensor, Tensor, Tensor]:
    gradient, value = torch.func.grad_and_value(loss)(weights, X, target)
    Hg = torch.func.grad(lambda W: total(torch.func.grad(loss)(W, X, target)))(weights)
    Phi = sum(0.5 * (G * H).sum() for G, H in zip(gradient, Hg, strict=True))
    return value, total(gradient), Phi


class Teleports:
    def __init__(self, work: Work):
        self.work = work
        self.ascent = work.choose(ascent, functional_ascent)
        self.moved = work.compile_(moved)
        self.measures = work.choose(measures, functional_measures)
        self.rescaled = work.compile_(rescaled)

    def ascent_step(self, weights, X, target, inputs_inverse, rate: float, length: float):
        value, gradient, states = self.ascent(weights, X, target, inputs_inverse, rate)
        with torch.no_grad():
            scale = length / total(gradient).sqrt()
            return value, self.moved(weights, *states, [G * scale for G in gradient])

    def teleported(self, weights, p: Problem, steps: int, rate: float, length: float) -> Weights:
        inputs_inverse = torch.linalg.pinv(p.X)
        for _ in range(steps):
            _, weights = self.ascent_step(weights, p.X, p.target, inputs_inverse, rate, length)
        return weights

    def ascend(self, steps: str, rate: str, length: str):
        p, weights = self.work.p, self.work.p.weights
        inputs_inverse = torch.linalg.pinv(p.X)
        start, _, _ = self.ascent(weights, p.X, p.target, inputs_inverse, float(rate))

        def work() -> None:
            W = weights
            for _ in range(int(steps)):
                _, W = self.ascent_step(
                    W, p.X, p.target, inputs_inverse, float(rate), float(length)
                )

        return timed(work)[0], start

    def gradient(self, rate: str, path: str):
        p = self.work.p
        inputs_inverse = torch.linalg.pinv(p.X)
        value, gradient, _ = self.ascent(p.weights, p.X, p.target, inputs_inverse, float(rate))
        with open(path, "wb") as file:
            for G in gradient:
                file.write(G.contiguous().numpy().tobytes())
        return 0, value

    def teleport(self, steps: str, rate: str, length: str):
        p = self.work.p

        @torch.no_grad()
        def loss_at(W: Weights) -> float:
            return self.work.loss(W, p.X, p.target).item()

        def work() -> tuple[float, float]:
            W = self.teleported(p.weights, p, int(steps), float(rate), float(length))
            return loss_at(p.weights), loss_at(W)

        seconds, losses = timed(work)
        return seconds, *losses

    def rescale(self, kappa: str):
        p = self.work.p

        def work() -> tuple[float, ...]:
            weights = p.trainable()
            before = self.work.loss(weights, p.X, p.target)
            gradient = torch.autograd.grad(before, weights)
            with torch.no_grad():
                W = self.rescaled(p.weights, gradient, float(kappa))
            return before.item(), *(number.item() for number in self.measures(W, p.X, p.target))

        seconds, numbers = timed(work)
        return seconds, *numbers

    def descend(self, epochs: str, every: str, steps: str, rate: str, length: str):
        p = self.work.p

        def work() -> float:
            weights = p.trainable()
            for t in range(int(epochs)):
                if t % int(every) == 0:
                    here = [W.detach() for W in weights]
                    there = self.teleported(here, p, int(steps), 0.0, float(length))
                    with torch.no_grad():
                        torch._foreach_copy_(weights, there)
                last = self.work.sgd_step(weights, p.X, p.target, float(rate))
            return last

        return timed(work)

    def commands(self) -> dict[str, Callable[..., Any]]:
        return {
            "ascend": self.ascend,
            "gradient": self.gradient,
            "teleport": self.teleport,
            "rescale": self.rescale,
            "descend": self.descend,
        }
