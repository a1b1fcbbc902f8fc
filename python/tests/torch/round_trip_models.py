# SPDX-License-Identifier: MIT
"""Models, data and the comparison with dense matrices for the tests of RoundTrip."""

from __future__ import annotations

import torch
from dense_reference import expected_gradients
from torch import nn

from symport.torch import RoundTrip

EXACT = 1e-10  # relative, double precision


def error(found: torch.Tensor, expected: torch.Tensor) -> float:
    return ((found - expected).abs().max() / expected.abs().max()).item()


def check(
    model: nn.Module, modules: list[nn.Module], *losses, tolerance=EXACT, **options
) -> RoundTrip:
    """backward of all losses and one step, against dense matrices."""
    expected = expected_gradients(model, modules, list(losses), options.get("damping", 0.1))
    model.zero_grad()
    trip = RoundTrip(model, **options)
    for loss in losses:
        loss().backward()
    trip.step()
    for module, (weight, bias) in zip(modules, expected, strict=True):
        assert error(module.weight.grad, weight) < tolerance, module
        if bias is not None:
            assert error(module.bias.grad, bias) < tolerance, module
    trip.remove()
    return trip


def mlp(*widths: int, bias: bool = True, dtype: torch.dtype = torch.float64) -> nn.Sequential:
    layers: list[nn.Module] = []
    for a, b in zip(widths, widths[1:], strict=False):
        layers += [nn.Linear(a, b, bias=bias), nn.LeakyReLU(0.1)]
    return nn.Sequential(*layers[:-1]).to(dtype)


def linears(model: nn.Module) -> list[nn.Module]:
    return [
        m for m in model.modules() if isinstance(m, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d))
    ]


def classes(count: int) -> torch.Tensor:
    return torch.randint(0, 5, (count,))


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def layer_uses(trip: RoundTrip, index: int = 0):
    return trip._layers[index].uses


class Lora(nn.Module):
    def __init__(self, inputs: int, outputs: int, rank: int):
        super().__init__()
        self.base = nn.Linear(inputs, outputs)
        self.base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(rank, inputs))
        self.lora_B = nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, x):
        return self.base(x) + x @ self.lora_A.T @ self.lora_B.T
