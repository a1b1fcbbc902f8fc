# SPDX-License-Identifier: MIT
"""What the experiments share: tuning on one seed, judging on eight others, CSV files that grow.

A task is a module with `EPOCHS` and `start(seed, arguments)`, which gives an object with `model`,
`batches(epoch)`, `loss(batch)`, `schedule(step)` and `evaluate()`. A run that is in the CSV file is
not repeated: a command that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import functools
import math
import os
import platform
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from methods import IN_GAUGE, METHODS, Method, Setting, climb, split

from symport.torch.round_trip import RoundTrip

TUNING_SEED = 0
SEEDS = (1, 2, 3, 4, 5, 6, 7, 8)
BUDGET = 30  # settings that are tried for each method

FIELDS = (
    "part",
    "method",
    "setting",
    "seed",
    "epoch",
    "cpu_seconds",
    "train",
    "validation",
    "accuracy",
)


def run(
    task: Any, name: str, method: Method, setting: Setting, seed: int, epochs: int, arguments: Any
) -> list:
    """One row an epoch. Seconds are CPU time of training alone."""
    torch.manual_seed(seed)
    experiment = task.start(seed, arguments)
    model = experiment.model
    optimizers = method.make(*split(model), setting)
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    rates = [group["lr"] for group in groups]
    if method.gauge is not None:
        optimizers = [RoundTrip(model, optimizers, **method.gauge)]
    rows, seconds, step = [], 0.0, 0
    for epoch in range(1, epochs + 1):
        start = time.process_time()
        model.train()
        for batch in experiment.batches(epoch):
            for group, rate in zip(groups, rates, strict=True):
                group["lr"] = rate * experiment.schedule(step)
            model.zero_grad()
            experiment.loss(batch).backward()
            for optimizer in optimizers:
                optimizer.step()
            step += 1
        seconds += time.process_time() - start
        model.eval()
        with torch.no_grad():
            train, validation, accuracy = experiment.evaluate()
        row = dict(method=name, setting=describe(setting), seed=seed, epoch=epoch)
        row |= dict(cpu_seconds=round(seconds, 2), train=train, validation=validation)
        rows.append(row | dict(accuracy=accuracy))
        if not math.isfinite(train):
            break
    return rows


def describe(setting: Setting) -> str:
    return " ".join(f"{name}={value:g}" for name, value in setting.items())


class Results:
    """A CSV file of rows. The first line is the command; another command does not go on with it."""

    def __init__(self, path: Path, command: str):
        self.finished: dict[tuple, dict] = {}
        if path.exists():
            with path.open() as file:
                if file.readline().rstrip("\n") != f"# {command}":
                    sys.exit(f"{path}: written by another command; choose another --out")
                file.readline()
                for row in csv.DictReader(file):
                    key = (row["part"], row["method"], row["setting"], row["seed"])
                    self.finished[key] = row
            self.file = path.open("a", newline="")
            self.table = csv.DictWriter(self.file, FIELDS, lineterminator="\n")
        else:
            self.file = path.open("w", newline="")
            print(f"# {command}", file=self.file)
            print(f"# {datetime.date.today()}, {describe_machine()}", file=self.file)
            self.table = csv.DictWriter(self.file, FIELDS, lineterminator="\n")
            self.table.writeheader()

    def last(self, part: str, method: str, setting: Setting, seed: int, measure: Any) -> float:
        """The validation loss at the end of a run, which `measure()` makes if it is not there."""
        key = (part, method, describe(setting), str(seed))
        if key not in self.finished:
            rows = measure()
            for row in rows:
                numbers = {k: f"{v:.6g}" for k, v in row.items() if isinstance(v, float)}
                self.table.writerow({"part": part, **row, **numbers})
            self.file.flush()
            self.finished[key] = rows[-1]
            r = rows[-1]
            print(
                f"{part:12} {method:22} {r['setting']:44} seed {seed} {r['cpu_seconds']:6.1f} s  "
                f"train {r['train']:.4g}  validation {r['validation']:.4g}  {r['accuracy']:.4f}",
                flush=True,
            )
        return float(self.finished[key]["validation"])


def main(task: Any, add_arguments: Any = None) -> None:
    parser = argparse.ArgumentParser(description=task.__doc__)
    parser.add_argument("--out", type=Path, required=True, help="CSV file to write or go on with")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--epochs", type=int, default=task.EPOCHS)
    parser.add_argument("--seeds", nargs="*", type=int, default=list(SEEDS))
    parser.add_argument("--begin-with", help="a file of results: tune from its best settings")
    parser.add_argument("--budget", type=int, default=BUDGET, help="settings tried for each method")
    if add_arguments is not None:
        add_arguments(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    results = Results(arguments.out, f"python {shlex.join(sys.argv)}")
    begin_with = {} if arguments.begin_with is None else read_settings(arguments.begin_with)

    def measure(part: str, method: str, setting: Setting, seed: int) -> float:
        arguments.tuning = part == "tuning"
        return results.last(
            part,
            method,
            setting,
            seed,
            lambda: run(task, method, METHODS[method], setting, seed, arguments.epochs, arguments),
        )

    def best(method: str) -> Setting:
        start = begin_with.get(method, METHODS[method].start)
        return climb(start, lambda s: measure("tuning", method, s, TUNING_SEED), arguments.budget)

    for method in arguments.methods:
        setting = best(method)
        for seed in arguments.seeds:
            measure("judging", method, setting, seed)
        if method.endswith(IN_GAUGE):  # at the setting that suits the plain optimizer best
            setting = best(method.removesuffix(IN_GAUGE))
            for seed in arguments.seeds:
                measure("same setting", method, setting, seed)


def read_settings(name: str) -> dict[str, Setting]:
    """The setting that each method was judged at in a file of results."""
    settings = {}
    with (Path(__file__).parent / "results" / name).open() as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if row["part"] == "judging":
                pairs = (pair.split("=") for pair in row["setting"].split())
                settings[row["method"]] = {name: float(value) for name, value in pairs}
    return settings


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


def classification(model: Any, data: str, samples: int) -> tuple[Any, Any]:
    """The functions `add_arguments` and `start` of a task that classifies images."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--samples", type=int, default=samples)
        parser.add_argument("--batch", type=int, default=100)

    def start(seed: int, arguments: Any) -> Classification:
        folder = os.environ.get("SYMPORT_DATA") or "~/.local/share/symport"
        folder = Path(folder).expanduser() / data  # as `symport data fetch` stores it
        return Classification(model(), images(folder, arguments.samples), seed, arguments)

    return add_arguments, start


class Classification:
    """Mini-batches of images in a random order that depends on seed and epoch alone; the rate falls
    linearly to zero. Settings are chosen by 5,000 of the 10,000 images that are not trained on,
    and judged by the others."""

    shape = (-1, 1, 28, 28)

    def __init__(self, model: torch.nn.Module, images: Images, seed: int, arguments: Any):
        self.model, self.images, self.seed, self.batch = model, images, seed, arguments.batch
        self.half = slice(0, 5000) if arguments.tuning else slice(5000, 10000)
        self.steps = arguments.epochs * math.ceil(len(images.x) / arguments.batch)

    def batches(self, epoch: int) -> Any:
        generator = torch.Generator().manual_seed(1000 * self.seed + epoch)
        order = torch.randperm(len(self.images.x), generator=generator)
        for index in order.split(self.batch):
            yield self.images.x[index].view(self.shape), self.images.y[index]

    def loss(self, batch: Any) -> torch.Tensor:
        x, y = batch
        return torch.nn.functional.cross_entropy(self.model(x), y)

    def schedule(self, step: int) -> float:
        return 1.0 - step / self.steps

    def evaluate(self) -> tuple[float, float, float]:
        """The loss of 5,000 training images; loss and accuracy of half the validation images."""
        train, _ = self._measure(self.images.x[:5000], self.images.y[:5000])
        x, y = self.images.validation
        return train, *self._measure(x[self.half], y[self.half])

    def _measure(self, x: torch.Tensor, y: torch.Tensor) -> tuple[float, float]:
        loss, right = 0.0, 0
        for images, labels in zip(x.split(200), y.split(200), strict=True):
            outputs = self.model(images.view(self.shape))
            loss += torch.nn.functional.cross_entropy(outputs, labels, reduction="sum").item()
            right += (outputs.argmax(1) == labels).sum().item()
        return loss / len(x), right / len(x)
