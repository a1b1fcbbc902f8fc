# SPDX-License-Identifier: MIT
"""The benchmarks' work in JAX, every step compiled by jit: jax_side.py THREADS. See protocol.py.

Rows are samples and a layer is x W'.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from typing import Any

if sys.argv[1:] == ["1"]:  # JAX makes as many threads as it may use processors, once
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})

import jax
import jax.numpy as jnp
import numpy as np
from protocol import SLOPE, peak_kilobytes, read_problem, serve, timed

jax.config.update("jax_enable_x64", True)
jax.devices()
if sys.argv[1:] == ["1"]:
    os.sched_setaffinity(0, processors)

Weights = list[jax.Array]


def leaky(x: jax.Array, slope: float = SLOPE) -> jax.Array:
    return jnp.where(x > 0, x, slope * x)


def output_loss(out: jax.Array, target: jax.Array) -> jax.Array:
    if target.dtype == jnp.int64:
        chosen = jnp.take_along_axis(jax.nn.log_softmax(out), target[:, None], 1)
        return -chosen.mean()
    return 0.5 * jnp.square(out - target).sum()


def loss(weights: Weights, X: jax.Array, target: jax.Array) -> jax.Array:
    h = X
    for W in weights[:-1]:
        h = leaky(h @ W.T)
    return output_loss(h @ weights[-1].T, target)


def total(tensors: Any) -> jax.Array:
    return sum(jnp.square(tensor).sum() for tensor in tensors)


def forward(weights: Weights, X: jax.Array) -> tuple[Weights, Weights]:
    """h_0 ... h_(p-1) and z_1 ... z_(p-1)."""
    h, z = [X], []
    for W in weights[:-1]:
        z.append(h[-1] @ W.T)
        h.append(leaky(z[-1]))
    return h, z


def moved(weights: Weights, h: Weights, z: Weights, inverses: Weights, T: Weights) -> Weights:
    """W'_m = (W_m + (z'_m - z_m) l_(m-1)) g_(m-1)^-1 with g_m = I + T_m (rows are samples)."""
    result, undo = [], None
    for m, W in enumerate(weights):
        g = None
        if m < len(T):
            g = jnp.eye(len(T[m]), dtype=W.dtype) + T[m]
            W = W + (leaky(h[m + 1] @ g.T, 1 / SLOPE) - z[m]).T @ inverses[m].T
        result.append(W if undo is None else W @ undo)
        undo = None if g is None else jnp.linalg.inv(g)
    return result


@jax.jit
def sgd_step(weights: Weights, X, target, rate) -> tuple[jax.Array, Weights]:
    value, gradient = jax.value_and_grad(loss)(weights, X, target)
    return value, [W - rate * G for W, G in zip(weights, gradient, strict=True)]


@jax.jit
def adagrad_step(weights: Weights, state: Any, X, target, rate):
    value, gradient = jax.value_and_grad(loss)(weights, X, target)
    state = [S + G * G for S, G in zip(state, gradient, strict=True)]
    parts = zip(weights, gradient, state, strict=True)
    return value, [W - rate * G / (jnp.sqrt(S) + 1e-10) for W, G, S in parts], state


@jax.jit
def adam_step(weights: Weights, state: Any, X, target, rate):
    value, gradient = jax.value_and_grad(loss)(weights, X, target)
    t, first, second = state
    t = t + 1
    first = [0.9 * m + 0.1 * G for m, G in zip(first, gradient, strict=True)]
    second = [0.999 * v + 0.001 * G * G for v, G in zip(second, gradient, strict=True)]
    unbiased, root = 1 - 0.9**t, jnp.sqrt(1 - 0.999**t)
    stepped = [
        W - (rate / unbiased).astype(W.dtype) * m / (jnp.sqrt(v) / root.astype(W.dtype) + 1e-8)
        for W, m, v in zip(weights, first, second, strict=True)
    ]
    return value, stepped, (t, first, second)


def orthogonal(N: jax.Array) -> jax.Array:
    """Five steps of Newton and Schulz's iteration, on the shorter side."""
    X = N.T if N.shape[0] > N.shape[1] else N
    X = X / jnp.maximum(jnp.linalg.norm(X), 1e-7)
    for _ in range(5):
        K = X @ X.T
        X = 3.4445 * X + (2.0315 * (K @ K) - 4.7750 * K) @ X
    return X.T if N.shape[0] > N.shape[1] else X


@jax.jit
def muon_step(weights: Weights, state: Any, X, target, rate):
    """Muon for all matrices but the last, and AdamW at a twentieth of the rate for that one."""
    value, gradient = jax.value_and_grad(loss)(weights, X, target)
    t, average, first, second = state
    *matrices, head = weights
    *of_matrices, G = gradient
    average = [0.95 * B + 0.05 * G for B, G in zip(average, of_matrices, strict=True)]
    stepped = []
    for W, B, N in zip(matrices, average, of_matrices, strict=True):
        scale = max(1, W.shape[0] / W.shape[1]) ** 0.5
        stepped.append(W - rate * (0.1 * W + scale * orthogonal(0.95 * B + 0.05 * N)))
    t = t + 1
    first, second = 0.9 * first + 0.1 * G, 0.999 * second + 0.001 * G * G
    unbiased, root = (1 - 0.9**t).astype(G.dtype), jnp.sqrt(1 - 0.999**t).astype(G.dtype)
    u = first / unbiased / (jnp.sqrt(second) / root + 1e-8) + 0.01 * head
    return value, [*stepped, head - 0.05 * rate * u], (t, average, first, second)


def evaluate(weights: Weights, X, target, inputs_inverse, rate: float):
    """The objective of a teleport at the weights, its gradient in T at 0, and the states."""
    h, z = forward(weights, X)
    inverses = [inputs_inverse] + [jnp.linalg.pinv(state) for state in h[1:-1]]

    def objective(T: Weights) -> jax.Array:
        W = moved(weights, h, z, inverses, T)
        slopes = jax.grad(loss)
        if rate == 0:
            return total(slopes(W, X, target))
        gradient = slopes(W, X, target)
        _, Hg = jax.jvp(lambda V: slopes(V, X, target), (W,), (gradient,))
        Phi = sum((G * H).sum() for G, H in zip(gradient, Hg, strict=True))
        return rate * total(gradient) - 0.5 * rate * rate * Phi

    T = [jnp.zeros((len(W), len(W)), W.dtype) for W in weights[:-1]]
    value, gradient = jax.value_and_grad(objective)(T)
    return value, gradient, (h, z, inverses)


@partial(jax.jit, static_argnums=4)
def ascent_step(weights: Weights, X, target, inputs_inverse, rate: float, length):
    value, gradient, states = evaluate(weights, X, target, inputs_inverse, rate)
    scale = length / jnp.sqrt(total(gradient))
    scaled = [(G * scale).astype(G.dtype) for G in gradient]
    return value, moved(weights, *states, scaled)


inverse_of = jax.jit(jnp.linalg.pinv)
loss_of = jax.jit(loss)


@jax.jit
def rescaled(weights: Weights, X, target, kappa):
    """Every hidden unit to the end of [1/kappa, kappa] that maximises J, bottom-up; loss before,
    then loss, J and Phi there."""
    before, gradient = jax.value_and_grad(loss)(weights, X, target)
    W, G = list(weights), list(gradient)
    for m in range(len(W) - 1):
        rows, columns = jnp.square(G[m]).sum(1), jnp.square(G[m + 1]).sum(0)
        s = jnp.where(columns >= rows, kappa, 1 / kappa).astype(W[m].dtype)
        W[m], W[m + 1] = W[m] * s[:, None], W[m + 1] / s
        G[m], G[m + 1] = G[m] / s[:, None], G[m + 1] * s
    slopes = jax.grad(loss)
    after, gradient = jax.value_and_grad(loss)(W, X, target)
    _, Hg = jax.jvp(lambda V: slopes(V, X, target), (W,), (gradient,))
    Phi = sum((a * b).sum() for a, b in zip(gradient, Hg, strict=True))
    return W, (before, after, total(gradient), Phi)


@jax.jit
def round_trip(weights: Weights, X, target, theta, damping):
    """Each layer steps in its white gauge: delta (K + lambda I)^-1 h', K = h h', delta of the
    summed loss, which is a gradient in shifts of the pre-activations."""

    def shifted(shifts: Weights) -> tuple[jax.Array, Weights]:
        h = [X]
        for W, shift in zip(weights[:-1], shifts[:-1], strict=True):
            h.append(leaky(h[-1] @ W.T + shift))
        return output_loss(h[-1] @ weights[-1].T + shifts[-1], target), h

    shifts = [jnp.zeros((len(X), len(W)), W.dtype) for W in weights]
    (value, h), deltas = jax.value_and_grad(shifted, has_aux=True)(shifts)
    stepped = []
    for W, states, delta in zip(weights, h, deltas, strict=True):
        n, d = states.shape
        K = states @ states.T
        K = K + (damping * jnp.trace(K) / min(n, d)).astype(K.dtype) * jnp.eye(n, dtype=K.dtype)
        solved = jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(K), True), delta)
        stepped.append(W - (theta * n * (solved.T @ states)).astype(W.dtype))
    return value, stepped


def value_2d(x: jax.Array) -> jax.Array:
    return 100 * (x[0] ** 2 - x[1]) ** 2 + (x[0] - 1) ** 2


def turned(x: jax.Array, angle: jax.Array) -> jax.Array:
    """x turned by an angle in the coordinates (10 (x1^2 - x2), x1 - 1)."""
    u, v = 10 * (x[0] ** 2 - x[1]), x[0] - 1
    c, s = jnp.cos(angle), jnp.sin(angle)
    u, v = c * u - s * v, s * u + c * v
    return jnp.stack((v + 1, (v + 1) ** 2 - u / 10))


@jax.jit
def rosenbrock_run(key: jax.Array) -> jax.Array:
    """1000 steps at 1e-3, ten ascent steps of rate 0.1 before every 100th: one compiled loop."""
    angles = jax.random.uniform(key, (10,), jnp.float64, 0, jnp.pi)

    def teleport(x: jax.Array, angle: jax.Array) -> jax.Array:
        def squares(a: jax.Array) -> jax.Array:
            return jnp.square(jax.grad(value_2d)(turned(x, a))).sum()

        angle = jax.lax.fori_loop(0, 10, lambda _, a: a + 0.1 * jax.grad(squares)(a), angle)
        return turned(x, angle)

    def step(t: jax.Array, x: jax.Array) -> jax.Array:
        x = jax.lax.cond(t % 100 == 99, lambda: teleport(x, angles[t // 100]), lambda: x)
        return x - 1e-3 * jax.grad(value_2d)(x)

    return value_2d(jax.lax.fori_loop(0, 1000, step, jnp.array([-1.0, -1.0])))


class Side:
    def take(self, *words: str):
        weights, X, target = read_problem(*words)
        self.weights = [jnp.asarray(W) for W in weights]
        self.X, self.target = jnp.asarray(X), jnp.asarray(target)
        return 0, loss_of(self.weights, self.X, self.target)

    def take_set(self, *words: str):
        weights, self.images, self.labels = read_problem(*words)
        self.start = [jnp.asarray(W) for W in weights]
        return 0, 0

    def sgd(self, steps: str, rate: str):
        def work() -> float:
            weights = self.weights
            for _ in range(int(steps)):
                value, weights = sgd_step(weights, self.X, self.target, np.float32(rate))
                last = float(value)
            jax.block_until_ready(weights)
            return last

        return timed(work)

    def optimizer(self, step: Any, state: Any, steps: str, rate: str):
        def work() -> float:
            weights, memory = self.weights, state
            for _ in range(int(steps)):
                value, weights, memory = step(
                    weights, memory, self.X, self.target, np.float32(rate)
                )
            jax.block_until_ready(weights)
            return float(value)

        return timed(work)

    def zeros(self) -> Weights:
        return [jnp.zeros_like(W) for W in self.weights]

    def adagrad(self, *words: str):
        return self.optimizer(adagrad_step, self.zeros(), *words)

    def adam(self, *words: str):
        return self.optimizer(adam_step, (jnp.int32(0), self.zeros(), self.zeros()), *words)

    def muon(self, *words: str):
        *average, first = self.zeros()
        state = (jnp.int32(0), average, first, jnp.zeros_like(first))
        return self.optimizer(muon_step, state, *words)

    def ascend(self, steps: str, rate: str, length: str):
        inverse = jax.block_until_ready(inverse_of(self.X))

        def work() -> list[float]:
            values, weights = [], self.weights
            for _ in range(int(steps)):
                value, weights = ascent_step(
                    weights, self.X, self.target, inverse, float(rate), float(length)
                )
                values.append(float(value))
            jax.block_until_ready(weights)
            return values

        seconds, values = timed(work)
        return seconds, values[0]

    def gradient(self, rate: str, path: str):
        evaluated = jax.jit(evaluate, static_argnums=4)
        value, gradient, _ = evaluated(
            self.weights, self.X, self.target, inverse_of(self.X), float(rate)
        )
        with open(path, "wb") as file:
            for G in gradient:
                file.write(np.ascontiguousarray(G).tobytes())
        return 0, value

    def teleported(self, weights: Weights, steps: int, rate: float, length: float) -> Weights:
        inverse = inverse_of(self.X)
        for _ in range(steps):
            _, weights = ascent_step(weights, self.X, self.target, inverse, rate, length)
        return weights

    def teleport(self, steps: str, rate: str, length: str):
        def work() -> tuple[float, float]:
            W = self.teleported(self.weights, int(steps), float(rate), float(length))
            before = loss_of(self.weights, self.X, self.target)
            return float(before), float(loss_of(W, self.X, self.target))

        seconds, losses = timed(work)
        return seconds, *losses

    def rescale(self, kappa: str):
        def work() -> tuple[float, ...]:
            W, numbers = rescaled(self.weights, self.X, self.target, float(kappa))
            jax.block_until_ready(W)
            return tuple(float(number) for number in numbers)

        seconds, numbers = timed(work)
        return seconds, *numbers

    def roundtrip(self, steps: str, theta: str, damping: str):
        def work() -> float:
            weights = self.weights
            for _ in range(int(steps)):
                value, weights = round_trip(
                    weights, self.X, self.target, float(theta), float(damping)
                )
            jax.block_until_ready(weights)
            return float(value)

        return timed(work)

    def descend(self, epochs: str, every: str, steps: str, rate: str, length: str):
        def work() -> float:
            weights = self.weights
            for t in range(int(epochs)):
                if t % int(every) == 0:
                    weights = self.teleported(weights, int(steps), 0.0, float(length))
                value, weights = sgd_step(weights, self.X, self.target, float(rate))
            jax.block_until_ready(weights)
            return float(value)

        return timed(work)

    def epoch(self, validation: str, batch: str, rate: str):
        training, size = len(self.images) - int(validation), int(batch)

        def work() -> float:
            weights = self.start
            order = np.random.default_rng(1).permutation(training)
            for first in range(0, training, size):
                part = order[first : first + size]
                X, y = self.images[part], self.labels[part]
                _, weights = sgd_step(weights, X, y, np.float32(rate))
            total_loss = 0.0
            for first in range(training, len(self.images), 1000):
                part = slice(first, min(first + 1000, len(self.images)))
                X, y = self.images[part], self.labels[part]
                total_loss += float(loss_of(weights, X, y)) * len(X)
            return total_loss

        # Compiled before the clock runs.
        sgd_step(self.start, self.images[:size], self.labels[:size], np.float32(rate))
        seconds, whole_loss = timed(work, time.perf_counter)
        return seconds, whole_loss / int(validation), peak_kilobytes()

    def rosenbrock(self, runs: str):
        key = jax.random.key(1)
        rosenbrock_run(key).block_until_ready()
        return timed(lambda: [float(rosenbrock_run(key)) for _ in range(int(runs))][-1])

    def commands(self) -> dict[str, Any]:
        names = "sgd adagrad adam muon ascend gradient teleport rescale roundtrip descend epoch"
        named = {name: getattr(self, name) for name in (*names.split(), "rosenbrock")}
        return {"problem": self.take, "set": self.take_set, **named}


if __name__ == "__main__":
    serve(Side().commands())
