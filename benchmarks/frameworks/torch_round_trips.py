# SPDX-License-Identifier: MIT
"""Round trips: steps in the white gauge of every layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from protocol import SLOPE, timed
from torch import Tensor
from torch.nn.functional import leaky_relu
from torch_network import Weights, Work, forward, output_loss


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


class RoundTrips:
    def __init__(self, work: Work):
        self.work = work
        self.gauged = work.choose(gauged, functional_gauged)

    def roundtrip(self, steps: str, theta: str, damping: str):
        p = self.work.p
        weights = [W.clone() for W in p.weights]

        def work() -> float:
            for _ in range(int(steps)):
                value, step = self.gauged(weights, p.X, p.target, float(damping))
                torch._foreach_add_(weights, step, alpha=-float(theta))
            return value.item()

        return timed(work)

    def commands(self) -> dict[str, Callable[..., Any]]:
        return {"roundtrip": self.roundtrip}
