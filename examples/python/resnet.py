# SPDX-License-Identifier: MIT
"""A residual network with batch norm: one data-free teleport of a trained model.

`balance` needs no data, no loss and no gradient. It moves channels through batch norms and residual
streams by powers of two, so that every output keeps every bit, and lowers |w|^2: what weight decay
would otherwise spend its steps on. The optimizer's state and the running statistics move along, and
training goes on.

    python examples/python/resnet.py         # about 5 s
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import symport.torch as st


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)

    def forward(self, x: Tensor) -> Tensor:
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(x + self.bn2(self.conv2(h)))


class ResNet(nn.Module):
    def __init__(self, width: int = 16, classes: int = 4) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(width)
        self.blocks = nn.Sequential(Block(width), Block(width))
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.blocks(F.relu(self.bn(self.stem(x))))
        return self.head(x.mean((2, 3)))


def data(samples: int) -> tuple[Tensor, Tensor]:
    """Stripes in four directions with noise."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(4, (samples,), generator=generator)
    axis = torch.arange(12.0)
    waves = torch.stack(
        [
            torch.sin(a * axis[:, None] + b * axis[None, :])
            for a, b in ((1, 0), (0, 1), (1, 1), (1, -1))
        ]
    )
    noise = torch.randn(samples, 12, 12, generator=generator)
    return (waves[labels] + noise).unsqueeze(1), labels


def main(epochs: int = 2) -> st.Certificate:
    torch.manual_seed(0)
    x, y = data(512)
    model = ResNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)

    def train() -> None:
        for batch in torch.arange(len(x)).split(64):
            optimizer.zero_grad()
            F.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()

    for _ in range(epochs):
        train()
    before = model.eval()(x)
    model.train()  # the mode in which it will be used: eval mode has symmetries that training has not
    symmetries = st.find_symmetries(model, x[:4], optimizer=optimizer)  # >>>
    certificate = st.balance(model, symmetries=symmetries, optimizer=optimizer)  # >>>
    print(symmetries)
    print(certificate)
    after = model.eval()(x)
    print(f"largest change of an output: {(after - before).abs().max().item():.1e}")
    model.train()
    train()
    print(f"training goes on: loss {F.cross_entropy(model(x), y).item():.4f}")
    return certificate


if __name__ == "__main__":
    main()
