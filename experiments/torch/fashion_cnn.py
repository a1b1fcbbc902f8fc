# SPDX-License-Identifier: MIT
"""Two convolutions and two linear layers on 10,000 images of Fashion-MNIST: mini-batches of 100,
rates that fall to zero."""

import sys

import harness
from torch import nn

EPOCHS = 3


def model():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 49, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


add_arguments, start = harness.classification(model, "fashion-mnist", samples=10000)

if __name__ == "__main__":
    harness.main(sys.modules[__name__], add_arguments)
