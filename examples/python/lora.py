# SPDX-License-Identifier: MIT
"""LoRA fine-tuning with three lines of Symport (marked >>>).

Only the product B A of a LoRA pair matters, and SGD feels how it is split. Alternating white gauges
(A orthonormal, then B) turn every SGD step into a least-squares step on one of the factors, with
the step length measured on the batch: no learning rate to tune, and no condition number.

    python examples/python/lora.py           # about 5 s
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

import symport.torch as st


class LoRALinear(nn.Module):
    """A frozen layer plus B A."""

    def __init__(self, base: nn.Linear, rank: int = 4) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_A = nn.Linear(base.in_features, rank, bias=False)
        self.lora_B = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.lora_B.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.lora_B(self.lora_A(x))


def problem() -> tuple[nn.Module, Tensor, Tensor]:
    """A pretrained network whose first layer should change by a matrix of rank 4, condition 100."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 32))
    x = torch.randn(512, 32)
    u, v = (torch.linalg.qr(torch.randn(32, 4))[0] for _ in range(2))
    with torch.no_grad():
        change = u * torch.logspace(0, -2, 4) @ v.T
        y = model[2](torch.tanh(x @ (model[0].weight + change).T + model[0].bias))
    model.requires_grad_(False)
    model[0] = LoRALinear(model[0])
    return model, x, y


def main(steps: int = 60, rate: float = 0.1, teleports: bool = True) -> float:
    """Full batches; returns the last loss."""
    model, x, y = problem()
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=rate)

    def closure() -> Tensor:
        return 0.5 * (model(x) - y).square().sum(1).mean()

    if teleports:
        symmetries = st.find_symmetries(model, x[:8], optimizer=optimizer)  # >>>
        teleporter = st.Teleporter(symmetries, optimizer, 1, objective="alternate")  # >>>
    for _ in range(steps):
        optimizer.zero_grad()
        closure().backward()
        if teleports:
            teleporter.step(closure)  # >>>
        optimizer.step()
    return closure().item()


if __name__ == "__main__":
    for rate in (0.3, 1.0, 2.0):
        print(f"SGD, rate {rate}: {main(rate=rate, teleports=False):.2e}")
    for rate in (0.1, 0.01):
        print(f"SGD, rate {rate}, alternating gauges: {main(rate=rate):.2e}")
