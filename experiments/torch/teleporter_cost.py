# SPDX-License-Identifier: MIT
"""What Teleporter.step() costs, in training steps (forward, backward, optimizer), on one thread.

    python experiments/torch/teleporter_cost.py

Closed forms ("balance", "gradient", "flat") without a closure; CPU time, the median of 15 steps of
each kind taken in turn. The limit is 2 training steps.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import symport.torch as st

LIMIT = 2.0


def mlp() -> tuple[nn.Module, Callable[[nn.Module], Tensor], Tensor]:
    """784-512-512-10, batches of 100."""
    model = nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )
    x, y = torch.randn(100, 784), torch.randint(10, (100,))
    return model, lambda m: F.cross_entropy(m(x), y), x[:4]


def cnn() -> tuple[nn.Module, Callable[[nn.Module], Tensor], Tensor]:
    """Two convolutions with batch norm, 28 x 28, batches of 32."""
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 49, 10),
    )
    x, y = torch.randn(32, 1, 28, 28), torch.randint(10, (32,))
    return model, lambda m: F.cross_entropy(m(x), y), x[:4]


class LoRALinear(nn.Module):
    def __init__(self, width: int, rank: int) -> None:
        super().__init__()
        self.base = nn.Linear(width, width).requires_grad_(False)
        self.lora_A = nn.Linear(width, rank, bias=False)
        self.lora_B = nn.Linear(rank, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.lora_B(self.lora_A(x))


def lora() -> tuple[nn.Module, Callable[[nn.Module], Tensor], Tensor]:
    """Three LoRA pairs of rank 16 on frozen layers of width 512, batches of 256."""
    layers = [LoRALinear(512, 16), nn.GELU(), LoRALinear(512, 16), nn.GELU(), LoRALinear(512, 16)]
    x, y = torch.randn(256, 512), torch.randn(256, 512)
    return nn.Sequential(*layers), lambda m: F.mse_loss(m(x), y), x[:4]


def main() -> int:
    torch.set_num_threads(1)
    print("model   optimizer  objective  training step  Teleporter.step()  ratio")
    worst = 0.0
    for make in (mlp, cnn, lora):
        for name in ("SGD", "AdamW"):
            for objective in ("balance", "gradient", "flat"):
                torch.manual_seed(0)
                model, loss_of, x = make()
                options = {"momentum": 0.9} if name == "SGD" else {}
                optimizer = getattr(torch.optim, name)(
                    [p for p in model.parameters() if p.requires_grad], lr=1e-4, **options
                )
                symmetries = st.find_symmetries(model, x)
                teleporter = st.Teleporter(symmetries, optimizer, 1, objective=objective)
                training, teleports = [], []
                for _ in range(17):
                    begin = time.process_time()
                    optimizer.zero_grad()
                    loss_of(model).backward()
                    middle = time.process_time()
                    teleporter.step()
                    after = time.process_time()
                    optimizer.step()
                    training.append(middle - begin + time.process_time() - after)
                    teleports.append(after - middle)
                step, cost = (statistics.median(t[2:]) for t in (training, teleports))
                worst = max(worst, cost / step)
                print(
                    f"{make.__name__:7s} {name:10s} {objective:10s} {1e3 * step:10.2f} ms "
                    f"{1e3 * cost:15.2f} ms {cost / step:8.2f}"
                )
    print(f"worst ratio {worst:.2f}, limit {LIMIT}")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
