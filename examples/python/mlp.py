# SPDX-License-Identifier: MIT
"""The structure of PyTorch's MNIST example, with three lines of Symport (marked >>>).

The network starts in a bad gauge: its first layer is 64 times too large and its second 64 times
too small, which leaves the function as it was and stops plain SGD. A teleport to the balanced gauge
(the smallest weights with the same function) before the first step undoes it, bit for bit.

    python examples/python/mlp.py                        # about 2 s
    python examples/python/mlp.py --method plain         # without Symport
    python examples/python/mlp.py --method round-trip    # every step in a borrowed gauge: one line
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
        model[0].weight.mul_(64)
        model[0].bias.mul_(64)
        model[2].weight.div_(64)
    return model


def main(epochs: int = 2, method: str = "teleport") -> float:
    """Trains; returns the training loss at the end."""
    x, y = data(4096, seed=1)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if method == "teleport":
        symmetries = st.find_symmetries(model, x[:8], optimizer=optimizer)  # >>>
        teleporter = st.Teleporter(symmetries, optimizer, {0})  # >>> before the first step
        print(symmetries)
    if method == "round-trip":
        optimizer = st.RoundTrip(model, optimizer, length="metric")  # >>>
    for epoch in range(epochs):
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(epoch))
        for batch in order.split(64):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[batch]), y[batch])
            loss.backward()
            if method == "teleport":
                certificate = teleporter.step()  # >>>
                if certificate is not None:
                    print(certificate)
            optimizer.step()
        print(f"epoch {epoch + 1}: training loss {F.cross_entropy(model(x), y).item():.4f}")
    others, labels = data(2048, seed=2)
    print(f"accuracy on other data: {(model(others).argmax(1) == labels).float().mean():.1%}")
    return F.cross_entropy(model(x), y).item()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--method", choices=("plain", "teleport", "round-trip"), default="teleport")
    parser.add_argument("--epochs", type=int, default=2)
    arguments = parser.parse_args()
    main(arguments.epochs, arguments.method)
