# SPDX-License-Identifier: MIT
"""784-512-512-10, LeakyReLU(0.1), on MNIST in mini-batches of 100 at constant rates.

Rates are chosen after one epoch of 10,000 images.
"""

import sys

import harness
from torch import nn

EPOCHS = 4
TUNING_EPOCHS = 1
RATES = {
    "sgd": (0.1, 0.2, 0.5, 1.0),
    "momentum": (0.02, 0.05, 0.1, 0.2),
    "adamw": (5e-4, 1e-3, 2e-3, 5e-3),
    "round trip + sgd": (0.1, 0.2, 0.3, 0.5, 1.0),
    "round trip + momentum": (0.01, 0.02, 0.05, 0.1),
    "round trip + adam": (2e-4, 5e-4, 1e-3, 2e-3),
}


def model():
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 512),
        nn.LeakyReLU(0.1),
        nn.Linear(512, 512),
        nn.LeakyReLU(0.1),
        nn.Linear(512, 10),
    )


add_arguments, start = harness.classification(model, samples=50000, tuning_samples=10000)

if __name__ == "__main__":
    harness.main(sys.modules[__name__], add_arguments)
