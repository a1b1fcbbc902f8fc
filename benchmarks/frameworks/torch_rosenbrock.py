# SPDX-License-Identifier: MIT
"""Rosenbrock's function: 1000 steps at 1e-3, ten ascent steps of rate 0.1 before every 100th."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from protocol import timed
from torch import Tensor
from torch_network import Work


def value_2d(x: Tensor) -> Tensor:
    return 100 * (x[0].square() - x[1]).square() + (x[0] - 1).square()


def turned(x: Tensor, angle: Tensor) -> Tensor:
    """x turned by an angle in the coordinates (10 (x1^2 - x2), x1 - 1)."""
    u, v = 10 * (x[0].square() - x[1]), x[0] - 1
    c, s = angle.cos(), angle.sin()
    u, v = c * u - s * v, s * u + c * v
    return torch.stack((v + 1, (v + 1).square() - u / 10))


def autograd_step(x: Tensor) -> Tensor:
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(value_2d(x), x)
    return (x - 1e-3 * gradient).detach()


def value_step(x: Tensor) -> Tensor:
    return x - 1e-3 * torch.func.grad(value_2d)(x)


def autograd_turn(start: Tensor, angle: Tensor) -> Tensor:
    angle = angle.detach().requires_grad_()
    there = turned(start, angle)
    (gradient,) = torch.autograd.grad(value_2d(there), there, create_graph=True)
    (slope,) = torch.autograd.grad(gradient.square().sum(), angle)
    return (angle + 0.1 * slope).detach()


def functional_turn(start: Tensor, angle: Tensor) -> Tensor:
    def squares(a: Tensor) -> Tensor:
        return torch.func.grad(value_2d)(turned(start, a)).square().sum()

    return angle + 0.1 * torch.func.grad(squares)(angle)


class RosenbrockRuns:
    def __init__(self, work: Work):
        self.work = work
        self.descent = work.choose(autograd_step, value_step)
        self.turn = work.choose(autograd_turn, functional_turn)

    def rosenbrock(self, runs: str):
        def run() -> float:
            random = torch.Generator().manual_seed(1)
            x = torch.tensor([-1.0, -1.0], dtype=torch.float64)
            for t in range(1000):
                if t % 100 == 99:
                    angle = math.pi * torch.rand((), generator=random, dtype=torch.float64)
                    for _ in range(10):
                        angle = self.turn(x, angle)
                    x = turned(x, angle)
                x = self.descent(x)
            return value_2d(x).item()

        if self.work.compiled:
            run()
        return timed(lambda: [run() for _ in range(int(runs))][-1])

    def commands(self) -> dict[str, Callable[..., Any]]:
        return {"rosenbrock": self.rosenbrock}
