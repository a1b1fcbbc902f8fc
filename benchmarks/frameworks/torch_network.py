# SPDX-License-Identifier: MIT
"""The network, its loss, and what all kinds of work need. Rows are samples, and a layer is x W'."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from protocol import SLOPE, read_problem
from torch import Tensor
from torch.nn.functional import cross_entropy, leaky_relu

Weights = list[Tensor]

# Compiled code uses functions of this library without naming it: where torch.compile finds its
# files of an earlier run, nothing else has made them known by then.
ctypes.CDLL(str(Path(torch.__path__[0]) / "lib" / "libtorch_cpu.so"), mode=ctypes.RTLD_GLOBAL)


class Problem:
    def __init__(self, *words: str):
        weights, X, target = read_problem(*words)
        self.weights = [torch.from_numpy(W) for W in weights]
        self.X, self.target = torch.from_numpy(X), torch.from_numpy(target)

    def trainable(self) -> Weights:
        return [W.clone().requires_grad_() for W in self.weights]


def loss(weights: Weights, X: Tensor, target: Tensor) -> Tensor:
    h = X
    for W in weights[:-1]:
        h = leaky_relu(h @ W.T, SLOPE)
    return output_loss(h @ weights[-1].T, target)


def output_loss(out: Tensor, target: Tensor) -> Tensor:
    if target.dtype == torch.int64:
        return cross_entropy(out, target)
    return 0.5 * (out - target).square().sum()


def forward(weights: Weights, X: Tensor) -> tuple[Weights, Weights]:
    """h_0 ... h_(p-1) and z_1 ... z_(p-1)."""
    h, z = [X], []
    for W in weights[:-1]:
        z.append(h[-1] @ W.T)
        h.append(leaky_relu(z[-1], SLOPE))
    return h, z


def total(tensors: Any) -> Tensor:
    return sum(tensor.square().sum() for tensor in tensors)


class Work:
    """What the commands share: the problem, and whether functions are compiled. `compile` compiles
    what a user would: the loss, the step of an optimizer, the objective of a teleport with its
    gradient (by torch.func, as compiled functions have no second derivatives by torch.autograd)."""

    def __init__(self, compiled: bool):
        self.compiled = compiled
        self.loss = self.compile_(loss)
        self.forgetting: list[Callable[[], None]] = []

    def compile_(self, function: Any) -> Any:
        return torch.compile(function) if self.compiled else function

    def choose(self, eager: Any, functional: Any) -> Any:
        return torch.compile(functional) if self.compiled else eager

    def take(self, *words: str):
        self.p = Problem(*words)
        for forget in self.forgetting:
            forget()
        return 0, loss(self.p.weights, self.p.X, self.p.target)

    def take_set(self, *words: str):
        self.whole = Problem(*words)
        return 0, 0

    def sgd_step(self, weights: Weights, X: Tensor, target: Tensor, rate: float) -> float:
        value = self.loss(weights, X, target)
        gradient = torch.autograd.grad(value, weights)
        with torch.no_grad():
            torch._foreach_add_(weights, gradient, alpha=-rate)
        return value.item()

    def commands(self) -> dict[str, Callable[..., Any]]:
        return {"problem": self.take, "set": self.take_set}
