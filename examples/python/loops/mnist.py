# SPDX-License-Identifier: MIT
"""The structure of PyTorch's MNIST example, and one line of Symport and its import (marked >>>).

Two convolutions, dropout, a DataLoader, a schedule; `train` and `test` for each epoch. Without the
marked lines this is the plain script.

    python examples/python/loops/mnist.py                      # small made-up digits, 2 s
    python examples/python/loops/mnist.py --data ~/.local/share/symport/data/mnist
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn, optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

import symport.torch as st  # >>>


class Net(nn.Module):
    def __init__(self, side: int):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 1)
        self.conv2 = nn.Conv2d(8, 16, 3, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.dropout2 = nn.Dropout(0.5)
        self.fc1 = nn.Linear(16 * ((side - 4) // 2) ** 2, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(self.dropout1(x), 1)
        x = self.dropout2(F.relu(self.fc1(x)))
        return F.log_softmax(self.fc2(x), dim=1)


def made_up_digits(samples: int, seed: int) -> TensorDataset:
    """Ten random shapes of 14 x 14 pixels, shifted and under noise: no download."""
    shapes = torch.rand(10, 10, 10, generator=torch.Generator().manual_seed(0)).round()
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(10, (samples,), generator=generator)
    images = torch.randn(samples, 1, 14, 14, generator=generator).mul_(0.4)
    for image, label, (i, j) in zip(
        images, labels, torch.randint(5, (samples, 2), generator=generator), strict=True
    ):
        image[0, i : i + 10, j : j + 10] += shapes[label]
    return TensorDataset(images, labels)


def idx_files(folder: Path, part: str, samples: int) -> TensorDataset:
    images = torch.from_file(str(folder / f"{part}-images-idx3-ubyte"), size=16 + samples * 784,
                             dtype=torch.uint8)  # fmt: skip
    labels = torch.from_file(str(folder / f"{part}-labels-idx1-ubyte"), size=8 + samples,
                             dtype=torch.uint8)  # fmt: skip
    pixels = images[16:].view(samples, 1, 28, 28) / 255
    return TensorDataset((pixels - 0.1307) / 0.3081, labels[8:].long())


def train(model, device, train_loader, optimizer) -> float:
    model.train()
    total = 0.0
    for data, target in train_loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(data)
    return total / len(train_loader.dataset)


def test(model, device, test_loader) -> tuple[float, float]:
    model.eval()
    test_loss, correct = 0.0, 0
    with torch.no_grad():
        for data, target in test_loader:
            output = model(data.to(device))
            test_loss += F.nll_loss(output, target.to(device), reduction="sum").item()
            correct += (output.argmax(1).cpu() == target).sum().item()
    return test_loss / len(test_loader.dataset), correct / len(test_loader.dataset)


def main(arguments: list[str] | None = None) -> list[tuple[float, float, float]]:
    """Training loss, test loss and accuracy of each epoch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of MNIST's files")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--gamma", type=float, default=0.7)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(arguments)
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if args.data:
        sets = idx_files(args.data, "train", 60000), idx_files(args.data, "t10k", 10000)
    else:
        sets = made_up_digits(4096, 1), made_up_digits(1000, 2)
    train_loader = DataLoader(sets[0], args.batch_size, shuffle=True)
    test_loader = DataLoader(sets[1], 1000)

    model = Net(28 if args.data else 14).to(device)
    optimizer = optim.SGD(model.parameters(), lr=args.lr)
    optimizer = st.RoundTrip(model, optimizer)  # >>>
    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)
    curve = []
    for epoch in range(1, args.epochs + 1):
        training = train(model, device, train_loader, optimizer)
        curve.append((training, *test(model, device, test_loader)))
        scheduler.step()
        print("epoch {}: train {:.4f}, test {:.4f}, accuracy {:.2%}".format(epoch, *curve[-1]))
    return curve


if __name__ == "__main__":
    main()
