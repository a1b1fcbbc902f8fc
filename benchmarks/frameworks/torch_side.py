# SPDX-License-Identifier: MIT
"""The benchmarks' work in PyTorch: torch_side.py eager|compile THREADS. See protocol.py.

Rows are samples and a layer is x W'. `compile` compiles what a user would: the loss, the step of an
optimizer, the objective of a teleport with its gradient (by torch.func, as compiled functions have
no second derivatives by torch.autograd).
"""

from __future__ import annotations

import ctypes
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from protocol import SLOPE, peak_kilobytes, read_problem, serve, timed
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


def total(tensors: Any) -> Tensor:
    return sum(tensor.square().sum() for tensor in tensors)


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


def white_steps(h: Weights, deltas: Any, damping: float) -> Weights:
    """The step of each layer in its white gauge: delta (K + lambda I)^-1 h' with K = h h', delta of
    the summed loss."""
    steps = []
    for states, delta in zip(h, deltas, strict=True):
        n, d = states.shape
        K = states @ states.T
        K = K + (damping * K.trace() / min(n, d)) * torch.eye(n, dtype=K.dtype)
        inverse = torch.cholesky_inverse(torch.linalg.cholesky_ex(K)[0])  # faster than a solve
        steps.append((n * (inverse @ delta)).T @ states)
    return steps


def gauged(weights: Weights, X: Tensor, target: Tensor, damping: float) -> tuple[Tensor, Weights]:
    """The loss, and the steps of all layers in their white gauges."""
    with torch.enable_grad():
        h, z = forward([weights[0].detach().requires_grad_(), *weights[1:]], X)
        z.append(h[-1] @ weights[-1].T)
        value = output_loss(z[-1], target)
        deltas = torch.autograd.grad(value, z)
    return value, white_steps([state.detach() for state in h], deltas, damping)


def functional_gauged(weights, X, target, damping: float) -> tuple[Tensor, Weights]:
    """The same by torch.func: the deltas are gradients in shifts of the pre-activations."""

    def shifted(shifts: Weights) -> tuple[Tensor, Weights]:
        h = [X]
        for W, shift in zip(weights[:-1], shifts[:-1], strict=True):
            h.append(leaky_relu(h[-1] @ W.T + shift, SLOPE))
        return output_loss(h[-1] @ weights[-1].T + shifts[-1], target), h

    shifts = [torch.zeros(len(X), len(W), dtype=W.dtype) for W in weights]
    deltas, (value, h) = torch.func.grad_and_value(shifted, has_aux=True)(shifts)
    return value, white_steps(h, deltas, damping)


def value_2d(x: Tensor) -> Tensor:
    return 100 * (x[0].square() - x[1]).square() + (x[0] - 1).square()


def turned(x: Tensor, angle: Tensor) -> Tensor:
    """x turned by an angle in the coordinates (10 (x1^2 - x2), x1 - 1)."""
    u, v = 10 * (x[0].square() - x[1]), x[0] - 1
    c, s = angle.cos(), angle.sin()
    u, v = c * u - s * v, s * u + c * v
    return torch.stack((v + 1, (v + 1).square() - u / 10))


class Side:
    def __init__(self, mode: str):
        self.compiled = mode == "compile"
        compile_ = torch.compile if self.compiled else (lambda function: function)
        self.loss = compile_(loss)
        self.ascent = compile_(functional_ascent) if self.compiled else ascent
        self.moved = compile_(moved)
        self.gauged = compile_(functional_gauged) if self.compiled else gauged
        self.measures = compile_(functional_measures) if self.compiled else measures
        self.rescaled = compile_(rescaled)
        self.compile_ = compile_
        self.optimizers: dict[Any, Any] = {}
        self.descent = compile_(self.value_step) if self.compiled else self.autograd_step
        self.turn = compile_(self.functional_turn) if self.compiled else self.autograd_turn

    def take(self, *words: str):
        self.p = Problem(*words)
        self.optimizers.clear()
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

    def sgd(self, steps: str, rate: str):
        weights = self.p.trainable()

        def work() -> float:
            for _ in range(int(steps)):
                last = self.sgd_step(weights, self.p.X, self.p.target, float(rate))
            return last

        return timed(work)

    def optimizer(self, kind: Any, steps: str, rate: str):
        first = kind not in self.optimizers
        if first:  # kept: what is compiled for one optimizer is of no use to the next
            weights = self.p.trainable()
            optimizer = kind(weights, float(rate))
            self.optimizers[kind] = weights, optimizer, self.compile_(optimizer.step)
        weights, optimizer, step = self.optimizers[kind]

        def work(count: int) -> float:
            for _ in range(count):
                optimizer.zero_grad()
                value = self.loss(weights, self.p.X, self.p.target)
                value.backward()
                step()
            return value.item()

        if first and self.compiled:  # before the clock runs
            work(2)
        with torch.no_grad():
            torch._foreach_copy_(weights, self.p.weights)
        for state in optimizer.state.values():
            for tensor in state.values():
                tensor.zero_()
        return timed(lambda: work(int(steps)))

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
        p, weights = self.p, self.p.weights
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
        p = self.p
        inputs_inverse = torch.linalg.pinv(p.X)
        value, gradient, _ = self.ascent(p.weights, p.X, p.target, inputs_inverse, float(rate))
        with open(path, "wb") as file:
            for G in gradient:
                file.write(G.contiguous().numpy().tobytes())
        return 0, value

    def teleport(self, steps: str, rate: str, length: str):
        p = self.p

        @torch.no_grad()
        def loss_at(W: Weights) -> float:
            return self.loss(W, p.X, p.target).item()

        def work() -> tuple[float, float]:
            W = self.teleported(p.weights, p, int(steps), float(rate), float(length))
            return loss_at(p.weights), loss_at(W)

        seconds, losses = timed(work)
        return seconds, *losses

    def rescale(self, kappa: str):
        p = self.p

        def work() -> tuple[float, ...]:
            weights = p.trainable()
            before = self.loss(weights, p.X, p.target)
            gradient = torch.autograd.grad(before, weights)
            with torch.no_grad():
                W = self.rescaled(p.weights, gradient, float(kappa))
            return before.item(), *(number.item() for number in self.measures(W, p.X, p.target))

        seconds, numbers = timed(work)
        return seconds, *numbers

    def roundtrip(self, steps: str, theta: str, damping: str):
        p, weights = self.p, [W.clone() for W in self.p.weights]

        def work() -> float:
            for _ in range(int(steps)):
                value, step = self.gauged(weights, p.X, p.target, float(damping))
                torch._foreach_add_(weights, step, alpha=-float(theta))
            return value.item()

        return timed(work)

    def descend(self, epochs: str, every: str, steps: str, rate: str, length: str):
        p = self.p

        def work() -> float:
            weights = p.trainable()
            for t in range(int(epochs)):
                if t % int(every) == 0:
                    here = [W.detach() for W in weights]
                    there = self.teleported(here, p, int(steps), 0.0, float(length))
                    with torch.no_grad():
                        torch._foreach_copy_(weights, there)
                last = self.sgd_step(weights, p.X, p.target, float(rate))
            return last

        return timed(work)

    def epoch(self, validation: str, batch: str, rate: str):
        X, target = self.whole.X, self.whole.target
        training, size = len(X) - int(validation), int(batch)

        def work() -> float:
            weights = self.whole.trainable()
            order = torch.randperm(training, generator=torch.Generator().manual_seed(1))
            for part in order.split(size):
                self.sgd_step(weights, X[part], target[part], float(rate))
            with torch.no_grad():
                parts = zip(X[training:].split(1000), target[training:].split(1000), strict=True)
                return sum(loss(weights, x, y).item() * len(x) for x, y in parts)

        seconds, whole_loss = timed(work, time.perf_counter)
        return seconds, whole_loss / int(validation), peak_kilobytes()

    # Rosenbrock's function: 1000 steps at 1e-3, ten ascent steps of rate 0.1 before every 100th.

    @staticmethod
    def autograd_step(x: Tensor) -> Tensor:
        x = x.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(value_2d(x), x)
        return (x - 1e-3 * gradient).detach()

    @staticmethod
    def value_step(x: Tensor) -> Tensor:
        return x - 1e-3 * torch.func.grad(value_2d)(x)

    @staticmethod
    def autograd_turn(start: Tensor, angle: Tensor) -> Tensor:
        angle = angle.detach().requires_grad_()
        there = turned(start, angle)
        (gradient,) = torch.autograd.grad(value_2d(there), there, create_graph=True)
        (slope,) = torch.autograd.grad(gradient.square().sum(), angle)
        return (angle + 0.1 * slope).detach()

    @staticmethod
    def functional_turn(start: Tensor, angle: Tensor) -> Tensor:
        def squares(a: Tensor) -> Tensor:
            return torch.func.grad(value_2d)(turned(start, a)).square().sum()

        return angle + 0.1 * torch.func.grad(squares)(angle)

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

        if self.compiled:
            run()
        return timed(lambda: [run() for _ in range(int(runs))][-1])

    def commands(self) -> dict[str, Callable[..., Any]]:
        return {
            "problem": self.take,
            "set": self.take_set,
            "sgd": self.sgd,
            "adagrad": lambda *words: self.optimizer(torch.optim.Adagrad, *words),
            "adam": lambda *words: self.optimizer(torch.optim.Adam, *words),
            "ascend": self.ascend,
            "gradient": self.gradient,
            "teleport": self.teleport,
            "rescale": self.rescale,
            "roundtrip": self.roundtrip,
            "descend": self.descend,
            "epoch": self.epoch,
            "rosenbrock": self.rosenbrock,
        }


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    serve(Side(sys.argv[1]).commands())
