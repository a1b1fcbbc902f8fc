# SPDX-License-Identifier: MIT
"""The structure of PyTorch's MNIST example, with three lines of Symport (marked >>>).

The network starts in a bad gauge: its first layer is 16 times too large, its second 16 times too
small, which leaves the function as it was and ruins plain SGD. Teleports to the balanced gauge (the
smallest weights with the same function) undo it, bit for bit.

    python examples/python/mlp.py            # about 2 s; --plain leaves the teleports out
"""

from __future__ import annotations

import argparse

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import symport.torch as st


def data(samples: int, seed: int) -> tuple[Tensor, Tensor]:
    """Ten classes around random centres in 64 dimensions: no download."""
    centres = torch.randn(10, 64, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(10, (samples,), generator=generator)
    return centres[labels] + 1.5 * torch.randn(samples, 64, generator=generator), labels


def make_model() -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)
    )
    with torch.no_grad():  # the bad gauge
        model[0].weight.mul_(16)
        model[0].bias.mul_(16)
        model[2].weight.div_(16)
    return model


def main(epochs: int = 3, teleports: bool = True) -> float:
    """Trains; returns the accuracy on other data."""
    x, y = data(4096, seed=1)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    if teleports:
        symmetries = st.find_symmetries(model, x[:8], optimizer=optimizer)  # >>>
        teleporter = st.Teleporter(symmetries, optimizer, 50)  # >>>
        print(symmetries)
    for epoch in range(epochs):
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(epoch))
        for batch in order.split(64):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[batch]), y[batch])
            loss.backward()
            if teleports and (certificate := teleporter.step()):  # >>>
                if certificate.step == 50:
                    print(certificate)
            optimizer.step()
        print(f"epoch {epoch + 1}: training loss {F.cross_entropy(model(x), y).item():.4f}")
    x, y = data(2048, seed=2)
    accuracy = float((model(x).argmax(1) == y).float().mean())
    print(f"accuracy on other data: {accuracy:.1%}")
    return accuracy


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plain", action="store_true", help="without teleports")
    parser.add_argument("--epochs", type=int, default=3)
    arguments = parser.parse_args()
    main(arguments.epochs, teleports=not arguments.plain)
