# SPDX-License-Identifier: MIT
"""Two convolutions and two linear layers on 12,800 images of Fashion-MNIST, mini-batches of 100.

Rates are chosen after one epoch of 6,400 images.
"""

import sys

import harness
from torch import nn

EPOCHS = 2
TUNING_EPOCHS = 1
RATES = {
    "sgd": (0.05, 0.1, 0.2, 0.5),
    "momentum": (0.01, 0.02, 0.05, 0.1),
    "adamw": (1e-3, 2e-3, 5e-3, 1e-2),
    "round trip + sgd": (0.02, 0.05, 0.1, 0.2, 0.5),
    "round trip + momentum": (0.002, 0.005, 0.01, 0.02, 0.05),
    "round trip + adam": (5e-4, 1e-3, 2e-3, 5e-3),
}


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


add_arguments, start = harness.classification(model, samples=12800, tuning_samples=6400)

if __name__ == "__main__":
    harness.main(sys.modules[__name__], add_arguments)
