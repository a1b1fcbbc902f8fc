# SPDX-License-Identifier: MIT
"""Chooses the defaults of RoundTrip on tasks and seeds that do not judge it: a GPT of width 48 on
other text, a CNN on MNIST, an MLP on Fashion-MNIST. Each optimizer is tuned plain on one seed, and
steps in every gauge at that setting on two others."""

import argparse
import shlex
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import fashion_cnn
import gpt
import harness
import torch
from methods import METHODS, climb
from torch import nn

TUNING_SEED, SEEDS, BUDGET = 100, (101, 102), 12
OPTIMIZERS = ("momentum", "adamw", "muon", "lion", "soap")
POWERS = [(0.25, 0.0), (0.25, 0.25), (0.5, 0.0), (0.5, 0.5)]
VARIANTS = (
    [{"power": power} for power in POWERS]
    + [{"power": (h, 0.0)} for h in (0.125, 0.35)]
    + [{"power": (0.25, 0.0), "damping": d} for d in (0.03, 0.3)]
    + [{"power": (0.25, 0.0), "refresh": 40}, {"power": (0.25, 0.0), "rows": None}]
)


class Text:
    EPOCHS = 3
    START = harness.read_settings("gpt.csv")

    @staticmethod
    def start(seed, arguments):
        size = {"width": 48, "layers": 2, "sequences": 16}
        return gpt.Task(seed, Namespace(**vars(arguments), **size), "*/*.py")


def small_mlp():
    layers = [nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(256, 10))


class Cnn:
    EPOCHS = 2
    START = harness.read_settings("fashion_cnn.csv")
    start = staticmethod(harness.classification(fashion_cnn.model, "mnist", 10000)[1])


class Mlp:
    EPOCHS = 3
    START = harness.read_settings("mnist_mlp.csv")
    start = staticmethod(harness.classification(small_mlp, "fashion-mnist", 10000)[1])


TASKS = {"gpt": Text, "cnn": Cnn, "mlp": Mlp}


def name_of(options):
    return " ".join(f"{k}={v}".replace(" ", "") for k, v in options.items())


def measure(results: harness.Results, name: str, optimizer: str) -> None:
    task = TASKS[name]
    common = Namespace(epochs=task.EPOCHS, tuning=True, samples=10000, batch=100)

    def validation(part, options, setting, seed):
        label = optimizer if options is None else f"{optimizer} {name_of(options)}"
        method = replace(METHODS[optimizer], gauge=options)

        def run():
            return harness.run(task, label, method, setting, seed, task.EPOCHS, common)

        return results.last(part, label, setting, seed, run)

    def plain(setting):
        return validation(f"{name} tuning", None, setting, TUNING_SEED)

    best = climb(task.START.get(optimizer) or METHODS[optimizer].start, plain, BUDGET)
    for options in [None, *VARIANTS]:
        for seed in SEEDS:
            validation(name, options, best, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    results = harness.Results(arguments.out, f"python {shlex.join(sys.argv)}")
    for name in arguments.tasks:
        for optimizer in OPTIMIZERS:
            measure(results, name, optimizer)


if __name__ == "__main__":
    main()
