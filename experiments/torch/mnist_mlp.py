# SPDX-License-Identifier: MIT
"""784-512-512-10, LeakyReLU(0.1), on 10,000 images of MNIST: mini-batches of 100,
rates that fall to zero."""

import sys

import harness
from torch import nn

EPOCHS = 3


def model():
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 512),
        nn.LeakyReLU(0.1),
        nn.Linear(512, 512),
        nn.LeakyReLU(0.1),
        nn.Linear(512, 10),
    )


add_arguments, start = harness.classification(model, "mnist", samples=10000)

if __name__ == "__main__":
    harness.main(sys.modules[__name__], add_arguments)
