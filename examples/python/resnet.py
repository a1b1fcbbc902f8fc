# SPDX-License-Identifier: MIT
"""A residual network with batch norm, with three lines of Symport (marked >>>).

Channels move through batch norms and the residual stream by powers of two, so that every loss keeps
every bit. Of the closed forms the one is taken that is lowest after five real steps of the
optimizer on the batch; where none beats standing still, the teleport is refused.

    python examples/python/resnet.py         # about 10 s
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


def data(samples: int, seed: int) -> tuple[Tensor, Tensor]:
    """Stripes in four directions with noise."""
    generator = torch.Generator().manual_seed(seed)
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


def main(
    epochs: int = 3, rate: float = 0.05, teleports: bool = True
) -> tuple[float, list[st.Certificate]]:
    """Trains; returns the training loss at the end and the certificates."""
    torch.manual_seed(0)
    x, y = data(512, seed=0)
    model = ResNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    if teleports:
        symmetries = st.find_symmetries(model, x[:4], optimizer=optimizer)  # >>>
        teleporter = st.Teleporter(
            symmetries, optimizer, 4, objective="decrease", rehearsal=5
        )  # >>>
        print(symmetries)
    for _ in range(epochs):
        for batch in torch.arange(len(x)).split(64):

            def closure(batch: Tensor = batch) -> Tensor:
                return F.cross_entropy(model(x[batch]), y[batch])

            optimizer.zero_grad()
            closure().backward()
            if teleports:
                teleporter.step(closure)  # >>>
            optimizer.step()
    loss = F.cross_entropy(model(x), y).item()
    others, labels = data(512, seed=1)
    accuracy = (model.eval()(others).argmax(1) == labels).float().mean().item()
    print(f"rate {rate}: training loss {loss:.2e}, accuracy on other data {accuracy:.1%}")
    return loss, teleporter.certificates if teleports else []


if __name__ == "__main__":
    for plain_rate in (0.05, 0.1, 0.2, 0.4):
        main(rate=plain_rate, teleports=False)
    _, certificates = main()
    print(certificates[0])
