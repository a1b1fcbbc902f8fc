# SPDX-License-Identifier: MIT
"""What a fixed linear change of a layer's inputs does to training in a borrowed gauge: nothing in
the metric form without damping, where the optimizer does not feel rotations of the inputs."""

from __future__ import annotations

import pytest
import torch
from test_golden import RULES
from torch import nn

from symport.torch import RoundTrip
from symport.torch.round_trip.source import Inputs

STEPS = 10


@pytest.fixture(autouse=True)
def without_damping(monkeypatch):
    """The formula's ridge fades with the number of rows; the theorem is about none."""
    statistics = Inputs.statistics

    def infinitely_many(self):
        found = statistics(self)
        return None if found is None else (found[0], torch.full_like(found[1], torch.inf))

    monkeypatch.setattr(Inputs, "statistics", infinitely_many)


def train(rule: str, change: torch.Tensor, length: str) -> torch.Tensor:
    """The weights of the second layer after training, seen with the inputs as they were: those of
    the layer are `change` times the outputs of the first one."""
    torch.manual_seed(2)
    first = nn.Sequential(nn.Linear(5, 7), nn.Tanh()).double().requires_grad_(False)
    second, last = nn.Linear(7, 6).double(), nn.Linear(6, 3).double()
    x, y = torch.randn(40, 5).double(), torch.randn(40, 3).double()
    with torch.no_grad():
        second.weight.copy_(second.weight @ torch.linalg.inv(change))
    model = nn.ModuleList([second, last])
    make, _ = RULES[rule]
    matrices = make([second.weight, last.weight])
    rest = torch.optim.SGD([second.bias, last.bias], 0.1)
    optimizer = RoundTrip(
        model, [matrices, rest], power=0.5, damping=0.0, refresh=3, rows=None, length=length
    )
    for _ in range(STEPS):
        optimizer.zero_grad()
        outputs = last(second(first(x) @ change.T).tanh())
        nn.functional.mse_loss(outputs, y).backward()
        optimizer.step()
    return second.weight.detach() @ change


def difference(rule: str, change: torch.Tensor, length: str) -> float:
    plain = train(rule, torch.eye(7).double(), length)
    return ((train(rule, change, length) - plain).norm() / plain.norm()).item()


def shear() -> torch.Tensor:
    torch.manual_seed(5)
    return torch.eye(7).double() + 0.3 * torch.randn(7, 7).double()


def rotation() -> torch.Tensor:
    return torch.linalg.qr(shear())[0]


@pytest.mark.parametrize("rule", ["gradient descent", "momentum", "muon"])
def test_the_metric_form_feels_no_linear_change_of_the_inputs(rule):
    assert difference(rule, shear(), "metric") < 1e-11
    assert difference(rule, 1e3 * shear(), "metric") < 1e-11


@pytest.mark.parametrize("rule", ["gradient descent", "momentum", "muon"])
def test_kept_lengths_feel_all_but_rotations(rule):
    assert difference(rule, rotation(), "kept") < 1e-11
    assert difference(rule, shear(), "kept") > 1e-3


@pytest.mark.parametrize("length", ["kept", "metric"])
def test_adam_feels_rotations(length):
    assert difference("adam", rotation(), length) > 1e-3
