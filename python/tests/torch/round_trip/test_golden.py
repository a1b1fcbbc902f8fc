# SPDX-License-Identifier: MIT
"""Steps in a borrowed gauge against NumPy: five steps with a new gauge in between."""

from __future__ import annotations

import numpy as np
import pytest
import round_trip_reference as reference
import torch
from torch import nn

from symport.torch import RoundTrip

STEPS, OUTPUTS, INPUTS, ROWS = 5, 4, 6, 9


class Muon(torch.optim.Optimizer):
    """In the precision of its parameters, with an exact orthogonal factor."""

    def __init__(self, parameters, lr, momentum):
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                M = self.state[p].setdefault("momentum_buffer", torch.zeros_like(p))
                M.mul_(group["momentum"]).add_(p.grad)
                U, _, V = torch.linalg.svd(M, full_matrices=False)
                p.sub_(U @ V, alpha=group["lr"])


RULES = {
    "gradient descent": (lambda p: torch.optim.SGD(p, 0.1), lambda: reference.GradientDescent()),
    "momentum": (
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
        lambda: reference.GradientDescent(momentum=0.9),
    ),
    "adam": (
        lambda p: torch.optim.Adam(p, 0.1, betas=(0.9, 0.99)),
        lambda: reference.Adam(),
    ),
    "muon": (lambda p: Muon(p, 0.1, 0.9), lambda: reference.Muon()),
}


def data(outputs=OUTPUTS, inputs=INPUTS):
    generator = torch.Generator().manual_seed(4)

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    mix = draw(inputs, inputs)  # far from white
    return draw(outputs, inputs), [
        (draw(outputs, inputs), draw(ROWS, inputs) @ mix) for _ in range(STEPS)
    ]


def steps_of(optimizer_of, W, steps, dtype=torch.float64, **options):
    layer = nn.Linear(W.shape[1], W.shape[0], bias=False, dtype=dtype)
    with torch.no_grad():
        layer.weight.copy_(W)
    optimizer = RoundTrip(layer, optimizer_of(layer.parameters()), **options)
    found = []
    for G, H in steps:
        layer(H.to(dtype))
        layer.weight.grad = G.to(dtype)
        optimizer.step()
        assert torch.equal(layer.weight.grad, G.to(dtype))
        found.append(layer.weight.detach().double().numpy().copy())
    return found


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("length", ["kept", "metric"])
@pytest.mark.parametrize("power", [0.25, 0.5])
def test_steps_are_those_of_numpy(rule, length, power):
    W, steps = data()
    of_torch, of_numpy = RULES[rule]
    found = steps_of(of_torch, W, steps, power=power, length=length, refresh=3)
    trip = reference.RoundTrip(of_numpy(), power, length == "kept", refresh=3)
    expected = W.numpy()
    for (G, H), weights in zip(steps, found, strict=True):
        expected = trip.step(expected, G.numpy(), H.numpy())
        assert np.abs(weights - expected).max() <= 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize("length", ["kept", "metric"])
def test_muon_of_torch_steps_as_it_does_in_bfloat16(length):
    """torch.optim.Muon iterates in bfloat16, so the same gradients are given to it directly."""
    W, steps = data()

    def make(p):
        return torch.optim.Muon(p, 0.1, weight_decay=0.0, nesterov=False)

    found = steps_of(make, W, steps, torch.float32, power=0.5, length=length, refresh=3)

    class Rule:
        """torch.optim.Muon, seen as a rule of NumPy."""

        M = None

        def __init__(self):
            self.p = torch.nn.Parameter(torch.zeros(OUTPUTS, INPUTS))
            self.inner = make([self.p])

        def step(self, G):
            if self.M is not None:
                self.inner.state[self.p]["momentum_buffer"].copy_(torch.as_tensor(self.M))
            self.p.data.zero_()
            self.p.grad = torch.as_tensor(G).float()
            self.inner.step()
            self.M = self.inner.state[self.p]["momentum_buffer"].double().numpy().copy()
            return self.p.detach().double().numpy()

    trip = reference.RoundTrip(Rule(), 0.5, length == "kept", refresh=3)
    expected = W.numpy()
    for (G, H), weights in zip(steps, found, strict=True):
        expected = trip.step(expected, G.numpy(), H.numpy())
        assert np.abs(weights - expected).max() <= 2e-2 * np.abs(expected - W.numpy()).max()
