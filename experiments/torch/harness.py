# SPDX-License-Identifier: MIT
"""What the experiments share: methods, tuning on one seed, judging on three others, CSV files.

A task is a module with `EPOCHS`, `RATES` (method -> rates to try) and `start(seed, arguments)`,
which gives an object with `model`, `batches(epoch)`, `loss(batch)`, `schedule(step)` and
`evaluate()`.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import functools
import math
import platform
import shlex
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from symport.torch import RoundTrip

TUNING_SEED = 0
SEEDS = (1, 2, 3)

# method -> (optimizer of parameters and rate, options of RoundTrip or None)
METHODS: dict[str, tuple[Any, dict[str, Any] | None]] = {
    "sgd": (lambda p, r: torch.optim.SGD(p, r), None),
    "momentum": (lambda p, r: torch.optim.SGD(p, r, momentum=0.9), None),
    "adamw": (lambda p, r: torch.optim.AdamW(p, r, weight_decay=0.01), None),
    "round trip + sgd": (lambda p, r: torch.optim.SGD(p, r), {}),
    "round trip + momentum": (lambda p, r: torch.optim.SGD(p, r, momentum=0.9), {}),
    "round trip + adam": (lambda p, r: torch.optim.AdamW(p, r, weight_decay=0.01), {}),
}

FIELDS = (
    "method",
    "options",
    "rate",
    "seed",
    "epoch",
    "cpu_seconds",
    "train",
    "validation",
    "accuracy",
)


def run(task: Any, method: str, rate: float, seed: int, epochs: int, arguments: Any) -> list[dict]:
    """One row an epoch. Seconds are CPU time of training alone."""
    torch.manual_seed(seed)
    make, options = METHODS[method]
    experiment = task.start(seed, arguments)
    parameters = [p for p in experiment.model.parameters() if p.requires_grad]
    optimizer = make(groups(experiment.model, parameters, arguments.other_rate), rate)
    trip = None
    if options is not None:
        trip = RoundTrip(experiment.model, **{**options, **arguments.round_trip})
    rows, seconds, step = [], 0.0, 0
    for epoch in range(1, epochs + 1):
        start = time.process_time()
        experiment.model.train()
        for batch in experiment.batches(epoch):
            for group in optimizer.param_groups:
                group["lr"] = rate * group.get("factor", 1.0) * experiment.schedule(step)
            optimizer.zero_grad()
            experiment.loss(batch).backward()
            if trip is not None:
                trip.step()
            optimizer.step()
            step += 1
        seconds += time.process_time() - start
        experiment.model.eval()
        with torch.no_grad():
            train, validation, accuracy = experiment.evaluate()
        rows.append(
            dict(
                method=method,
                options=" ".join(f"{k}={v}" for k, v in arguments.round_trip.items())
                if trip
                else "",
                rate=rate,
                seed=seed,
                epoch=epoch,
                cpu_seconds=round(seconds, 2),
                train=train,
                validation=validation,
                accuracy=accuracy,
            )
        )
        if not math.isfinite(train):
            break
    return rows


def groups(model: torch.nn.Module, parameters: list[Any], factor: float) -> list[Any]:
    """The parameters. Those that round trips leave alone (embeddings, norms) are a group of their
    own, whose rate is larger by the factor."""
    if factor == 1.0:
        return parameters
    kinds = (torch.nn.Linear, torch.nn.Conv2d)
    layers = [m for m in model.modules() if isinstance(m, kinds)]
    own = {id(p) for layer in layers for p in layer.parameters()}
    others = [p for p in parameters if id(p) not in own]
    return [
        {"params": [p for p in parameters if id(p) in own]},
        {"params": others, "factor": factor},
    ]


def best_rate(rates: Iterable[float], score: Callable[[float], float]) -> float:
    """The rate with the lowest score. A grid whose best rate is at its end is continued by rates of
    the series 1, 2, 5, 10, until the best one has a worse one on either side."""
    scores: dict[float, float] = {}
    queue = sorted(rates)
    while queue:
        for rate in queue:
            value = score(rate)
            scores[rate] = value if math.isfinite(value) else math.inf
        best = min(scores, key=lambda rate: scores[rate])
        queue = []
        if scores[best] < math.inf:
            queue = [next_rate(best, up) for up in (False, True)]
            low, high = min(scores), max(scores)
            queue = [r for r in queue if r < low * 0.99 or r > high * 1.01]
    return best


def next_rate(rate: float, up: bool) -> float:
    """The neighbour of a rate in the series 1, 2, 5, 10."""
    exponent = math.floor(math.log10(rate))
    series = [float(f"{m}e{e}") for e in range(exponent - 1, exponent + 2) for m in (1, 2, 5)]
    if up:
        return min(r for r in series if r > rate * 1.01)
    return max(r for r in series if r < rate * 0.99)


def main(task: Any, add_arguments: Any = None) -> None:
    parser = argparse.ArgumentParser(description=task.__doc__)
    parser.add_argument("--out", type=Path, required=True, help="CSV file to write")
    parser.add_argument("--methods", nargs="+", default=list(task.RATES), choices=list(METHODS))
    parser.add_argument("--rates", nargs="+", type=float, help="instead of the task's grid")
    parser.add_argument("--tuning-epochs", type=int, default=getattr(task, "TUNING_EPOCHS", None))
    parser.add_argument("--epochs", type=int, default=task.EPOCHS)
    parser.add_argument("--seeds", nargs="*", type=int, default=list(SEEDS))
    parser.add_argument(
        "--round-trip", nargs="*", default=[], help="options of RoundTrip, such as rows=64"
    )
    parser.add_argument(
        "--other-rate",
        type=float,
        default=1.0,
        help="factor of the rate of embeddings and norms, which round trips leave alone",
    )
    if add_arguments is not None:
        add_arguments(parser)
    arguments = parser.parse_args()
    arguments.tuning = False
    arguments.round_trip = {
        key: _option(key, value)
        for key, value in (option.split("=") for option in arguments.round_trip)
    }
    torch.set_num_threads(1)
    with arguments.out.open("w", newline="") as file:
        print(f"# python {shlex.join(sys.argv)}", file=file)
        print(f"# {datetime.date.today()}, {describe_machine()}", file=file)
        table = csv.DictWriter(file, ("part", *FIELDS), lineterminator="\n")
        table.writeheader()
        for method in arguments.methods:

            def score(rate: float, method: str = method) -> float:
                epochs = arguments.tuning_epochs or arguments.epochs
                arguments.tuning = True
                rows = run(task, method, rate, TUNING_SEED, epochs, arguments)
                arguments.tuning = False
                write(table, file, "tuning", rows)
                return rows[-1]["validation"]

            rates = arguments.rates or task.RATES[method]
            rate = best_rate(rates, score) if len(rates) > 1 else rates[0]
            for seed in arguments.seeds:
                rows = run(task, method, rate, seed, arguments.epochs, arguments)
                write(table, file, "judging", rows)


def _option(key: str, value: str) -> Any:
    if key == "kernel":
        return value
    if value == "None":
        return None
    return float(value) if "damping" in key else int(value)


def write(table: csv.DictWriter, file: Any, part: str, rows: list[dict]) -> None:
    for row in rows:
        numbers = {k: f"{v:.6g}" for k, v in row.items() if isinstance(v, float)}
        table.writerow({"part": part, **row, **numbers})
    file.flush()
    last = rows[-1]
    print(
        f"{part:8} {last['method']:22} rate {last['rate']:<8g} seed {last['seed']} "
        f"{last['cpu_seconds']:7.1f} s  train {last['train']:.4g}  "
        f"validation {last['validation']:.4g}  accuracy {last['accuracy']:.4f}",
        flush=True,
    )


def describe_machine() -> str:
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, 1 thread, Python {platform.python_version()}, PyTorch {torch.__version__}"


def read_idx(folder: Path, name: str) -> torch.Tensor:
    """An IDX file of bytes, as `symport data fetch` stores them."""
    data = (folder / name).read_bytes()
    sides = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3])]
    return torch.from_numpy(np.frombuffer(data, np.uint8, offset=4 + 4 * len(sides)).copy()).view(
        sides
    )


@functools.cache
def images(folder: Path, samples: int) -> Images:
    return Images(folder, samples)


class Images:
    """Images and classes; the last 10,000 of the training set are for validation."""

    def __init__(self, folder: Path, samples: int):
        images = read_idx(folder, "train-images-idx3-ubyte").float().div_(255)
        labels = read_idx(folder, "train-labels-idx1-ubyte").long()
        self.x, self.y = images[:samples], labels[:samples]
        self.validation = images[-10000:], labels[-10000:]


def classification(model: Any, samples: int, tuning_samples: int | None = None) -> tuple[Any, Any]:
    """The functions `add_arguments` and `start` of a task that classifies images."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--data", type=Path, required=True, help="folder of IDX files")
        parser.add_argument("--samples", type=int, default=samples)
        parser.add_argument(
            "--tuning-samples", type=int, default=tuning_samples, help="while rates are chosen"
        )
        parser.add_argument("--batch", type=int, default=100)

    def start(seed: int, arguments: Any) -> Classification:
        count = arguments.samples
        if arguments.tuning and arguments.tuning_samples is not None:
            count = min(count, arguments.tuning_samples)
        evaluated = 2000 if arguments.tuning else 10000
        data = images(arguments.data, count)
        return Classification(model(), data, seed, arguments.batch, evaluated)

    return add_arguments, start


class Classification:
    """Mini-batches of images in a random order that depends on seed and epoch alone."""

    shape = (-1, 1, 28, 28)

    def __init__(
        self, model: torch.nn.Module, images: Images, seed: int, batch: int, evaluated: int
    ):
        self.model, self.images, self.seed, self.batch = model, images, seed, batch
        self.evaluated = evaluated

    def batches(self, epoch: int) -> Any:
        generator = torch.Generator().manual_seed(1000 * self.seed + epoch)
        order = torch.randperm(len(self.images.x), generator=generator)
        for index in order.split(self.batch):
            yield self.images.x[index].view(self.shape), self.images.y[index]

    def loss(self, batch: Any) -> torch.Tensor:
        x, y = batch
        return torch.nn.functional.cross_entropy(self.model(x), y)

    def schedule(self, step: int) -> float:
        return 1.0

    def evaluate(self) -> tuple[float, float, float]:
        """Training loss, validation loss and accuracy, of the first images of either kind: 10,000,
        or 2,000 while rates are chosen."""
        n = self.evaluated
        train, _ = self._measure(self.images.x[:n], self.images.y[:n])
        x, y = self.images.validation
        return train, *self._measure(x[:n], y[:n])

    def _measure(self, x: torch.Tensor, y: torch.Tensor) -> tuple[float, float]:
        loss, right = 0.0, 0
        for images, labels in zip(x.split(200), y.split(200), strict=True):
            outputs = self.model(images.view(self.shape))
            loss += torch.nn.functional.cross_entropy(outputs, labels, reduction="sum").item()
            right += (outputs.argmax(1) == labels).sum().item()
        return loss / len(x), right / len(x)
