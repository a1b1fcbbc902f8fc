# SPDX-License-Identifier: MIT
"""Factorised layers: alternating gauges make gradient descent independent of the condition."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from symport.torch import Teleporter, find_symmetries


def orthonormal(n: int, r: int, generator: torch.Generator) -> Tensor:
    return torch.linalg.qr(torch.randn(n, r, generator=generator, dtype=torch.float64))[0]


def low_rank(m: int, n: int, rank: int, condition: float, generator: torch.Generator) -> Tensor:
    """Singular values from 1 down to 1 / condition."""
    values = torch.logspace(0, -math.log10(condition), rank, dtype=torch.float64)
    return orthonormal(m, rank, generator) * values @ orthonormal(n, rank, generator).T


def deep_linear(widths: tuple[int, ...], condition: float) -> tuple[nn.Module, Tensor, Tensor]:
    """A linear network on white data whose targets are a linear map of that condition."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    layers = [nn.Linear(a, b, bias=False) for a, b in itertools.pairwise(widths)]
    x = torch.eye(widths[0], dtype=torch.float64)
    target = low_rank(widths[-1], widths[0], min(widths), condition, generator)
    return nn.Sequential(*layers).double(), x, target.T.contiguous()


class LoRA(nn.Module):
    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_A = nn.Linear(base.in_features, rank, bias=False, dtype=torch.float64)
        self.lora_B = nn.Linear(rank, base.out_features, bias=False, dtype=torch.float64)
        nn.init.zeros_(self.lora_B.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.lora_B(self.lora_A(x))


def teacher_student(layer: int) -> tuple[nn.Module, Tensor, Tensor]:
    """A frozen network with LoRA; the teacher differs by a matrix of rank 4, condition 100."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    student = nn.Sequential(nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 24)).double()
    x = torch.randn(256, 24, generator=generator, dtype=torch.float64)
    teacher = copy.deepcopy(student)
    with torch.no_grad():
        teacher[layer].weight.add_(low_rank(24, 24, 4, 100, generator))
        y = teacher(x)
    student.requires_grad_(False)
    student[layer] = LoRA(student[layer], 4)
    return student, x, y


def run(
    problem: tuple[nn.Module, Tensor, Tensor],
    optimizer: Callable[[list[nn.Parameter]], torch.optim.Optimizer],
    steps: int,
    teleports: bool = False,
) -> tuple[float, Teleporter | None]:
    """The loss after so many steps (infinity if it diverges)."""
    model, x, y = problem
    step = optimizer([p for p in model.parameters() if p.requires_grad])

    def closure() -> Tensor:
        return 0.5 * (model(x) - y).square().sum(1).sum() / (1 if len(x) < 60 else len(x))

    teleporter = None
    if teleports:
        symmetries = find_symmetries(model, x[:8])
        teleporter = Teleporter(symmetries, step, 1, objective="alternate", closure=closure)
    for _ in range(steps):
        step.zero_grad()
        loss = closure()
        if not loss.item() < 1e6:
            return math.inf, teleporter
        loss.backward()
        if teleporter is not None:
            teleporter.step()
        step.step()
    return closure().item(), teleporter


def sgd(rate: float) -> Callable[[list[nn.Parameter]], torch.optim.Optimizer]:
    return lambda p: torch.optim.SGD(p, lr=rate)


@pytest.mark.parametrize("condition", [100, 10_000])
@pytest.mark.parametrize("widths", [(50, 5, 40), (50, 5, 5, 40), (50, 6, 5, 7, 40)])
def test_linear_networks_need_a_dozen_steps_whatever_the_condition(widths, condition) -> None:
    for rate in (0.1, 1e-3):
        loss, teleporter = run(deep_linear(widths, condition), sgd(rate), 12, teleports=True)
        assert loss < 1e-12, (rate, loss)
        drifts = [
            c.drift for c in teleporter.certificates if c.accepted and not c.at_rounding_level
        ]
        assert drifts and max(drifts) < 1e-10
    plain = min(run(deep_linear(widths, condition), sgd(r), 60)[0] for r in (0.3, 0.1, 0.03))
    assert plain > 1e-3  # five times the steps, at the best of three rates


def metric_condition(layer: int) -> float:
    """What the product B A of LoRA's own condition is measured in: the second moment of the layer's
    inputs, and of the derivatives of the outputs behind it. A gauge of B A does not change them."""
    model, x, _ = teacher_student(layer)
    with torch.no_grad():
        if layer == 2:
            h = model[:2](x)
            moments = [h.T @ h, torch.eye(24, dtype=torch.float64)]
        else:
            derivative = 1 - torch.tanh(model[0](x)).square()
            J = model[2].weight * derivative[:, None, :]
            moments = [x.T @ x, (J.mT @ J).sum(0)]
    values = [torch.linalg.eigvalsh(moment) for moment in moments]
    return math.prod((e[-1] / e[0]).item() for e in values)


def test_lora_on_white_inputs_is_far_ahead_of_tuned_sgd() -> None:
    """Nothing but the product B A is ill conditioned: a few steps suffice."""

    def problem() -> tuple[nn.Module, Tensor, Tensor]:
        torch.manual_seed(0)
        generator = torch.Generator().manual_seed(0)
        student = nn.Linear(24, 24, bias=False).double()
        x = 16 * orthonormal(256, 24, generator)
        y = x @ (student.weight.detach() + low_rank(24, 24, 4, 100, generator)).T
        return LoRA(student, 4), x, y

    with_teleports, _ = run(problem(), sgd(0.01), 60, teleports=True)
    plain = min(run(problem(), sgd(r), 60)[0] for r in (3.0, 2.0, 1.0))
    assert with_teleports < 1e-6 * plain, (with_teleports, plain)


@pytest.mark.parametrize("layer", [0, 2])
def test_lora_of_condition_100_is_ten_times_ahead_of_tuned_sgd_after_60_steps(layer: int) -> None:
    with_teleports, teleporter = run(teacher_student(layer), sgd(0.01), 60, teleports=True)
    assert not teleporter.certificates[0].accepted  # B is zero: that side cannot be white
    plain = min(run(teacher_student(layer), sgd(r), 60)[0] for r in (3.0, 2.0, 1.0))
    adam = min(
        run(teacher_student(layer), lambda p, r=r: torch.optim.Adam(p, lr=r), 60)[0]
        for r in (0.1, 0.03, 0.01)
    )
    # The gauge frees the steps of the condition of B A; that of inputs and outputs remains (171 and
    # 166 here, against 1 above), which leaves one order of magnitude.
    assert 150 < metric_condition(layer) < 200
    assert with_teleports < plain / 10, (with_teleports, plain)
    assert with_teleports < adam / 3, (with_teleports, adam)
