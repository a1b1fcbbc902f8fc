# SPDX-License-Identifier: MIT
"""How often RoundTrip does harm, on small random tables that nobody chose.

A task is a random table, a classification or a regression, and an MLP of one or two hidden layers:
batches of 1, 5, 20, 100 or all, 100 to 300 steps; correlated, shifted, constant and duplicate
features, features in units of 1e-6 to 1e6, one sample, fewer samples than features. Every
optimizer learns it plain, at its default rate and at 1.001 times that rate, which tells how much
chance there is in it, and in the gauge at the default rate. With --tuned both have the best of five
rates, 0.1 to 10 times the default, chosen on another initial point and other batches.

The training loss at the end is compared, and losses below a thousandth of the first one count as
that thousandth. Harm is more than 1.1 times the loss of the plain optimizer, serious harm more than
twice or divergence, to 1,000 times the first loss, help less than 1 / 1.1. Tasks from 100,000 on
are for choosing defaults.
"""

from __future__ import annotations

import argparse
import ast
import csv
import datetime
import math
import shlex
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import harness
import methods
import torch
from table import harm_of
from torch import Tensor, nn
from torch.nn import functional as F

from symport.torch.round_trip import RoundTrip

FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the default rate, to choose from
DIVERGED = 1e3

#: The matrices but the last, all others and a rate -> optimizers. Rates are PyTorch's defaults or,
#: for SGD and momentum, the rate of its examples; those of Lion and SOAP are their authors'.
Make = Callable[[list[Tensor], list[Tensor], float], list[torch.optim.Optimizer]]
OPTIMIZERS: dict[str, tuple[float, Make]] = {
    "sgd": (1e-2, lambda a, b, rate: [torch.optim.SGD([*a, *b], rate)]),
    "momentum": (1e-2, lambda a, b, rate: [torch.optim.SGD([*a, *b], rate, momentum=0.9)]),
    "adamw": (1e-3, lambda a, b, rate: [torch.optim.AdamW([*a, *b], rate)]),
    "muon": (
        1e-3,
        lambda a, b, rate: [methods.FlatMuon(a, rate), torch.optim.AdamW(b, rate)],
    ),
    "soap": (3e-3, lambda a, b, rate: [pytorch_optimizer().SOAP([*a, *b], rate)]),
    "lion": (1e-4, lambda a, b, rate: [pytorch_optimizer().Lion([*a, *b], rate)]),
    "rmsprop": (1e-2, lambda a, b, rate: [torch.optim.RMSprop([*a, *b], rate)]),
    "adagrad": (1e-2, lambda a, b, rate: [torch.optim.Adagrad([*a, *b], rate)]),
}


def pytorch_optimizer():
    import pytorch_optimizer  # benchmarks/requirements.txt

    return pytorch_optimizer


@dataclass
class Task:
    x: Tensor
    y: Tensor
    outputs: int
    widths: list[int]
    activation: type[nn.Module]
    batch: int
    steps: int
    name: str

    def model(self, seed: int) -> nn.Module:
        torch.manual_seed(seed)
        sizes = [self.x.shape[1], *self.widths]
        layers: list[nn.Module] = []
        for a, b in zip(sizes, sizes[1:], strict=False):
            layers += [nn.Linear(a, b), self.activation()]
        return nn.Sequential(*layers, nn.Linear(sizes[-1], self.outputs))

    def loss(self, model: nn.Module, rows: Tensor | slice = slice(None)) -> Tensor:
        lose = F.mse_loss if self.y.is_floating_point() else F.cross_entropy
        return lose(model(self.x[rows]), self.y[rows])

    def batches(self, seed: int) -> list[Tensor | slice]:
        n = len(self.x)
        if self.batch >= n:
            return [slice(None)] * self.steps
        generator = torch.Generator().manual_seed(seed)
        epochs = math.ceil(self.steps * self.batch / (n - n % self.batch))
        rows = [torch.randperm(n, generator=generator)[: n - n % self.batch] for _ in range(epochs)]
        return list(torch.cat(rows).split(self.batch)[: self.steps])


def task(number: int) -> Task:
    generator = torch.Generator().manual_seed(number)

    def choose(*options):
        return options[int(torch.randint(len(options), (), generator=generator))]

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    features = choose(3, 8, 20, 40)
    samples = choose(1, max(2, features // 2), 30, 100, 300, 300)
    kind = choose("independent", "correlated", "shifted", "binary")
    x = normal(samples, features)
    if kind == "correlated":
        x = x * torch.logspace(0, -2, features) @ torch.linalg.qr(normal(features, features))[0]
    elif kind == "shifted":
        x = x + 3 * normal(features)
    elif kind == "binary":
        x = (x > 1).float()
    teacher = torch.tanh(x @ normal(features, 8) / features**0.5) @ normal(8, choose(1, 3, 5))
    noise = choose(0.0, 0.3)
    if choose(True, False):
        y = torch.cat([teacher, -teacher], 1)
        outputs, goal = y.shape[1], "classes"
        y = (y + noise * normal(*y.shape)).argmax(1)
    else:
        y = teacher + noise * normal(*teacher.shape)
        outputs, goal = y.shape[1], "values"
        if samples > 1:
            y = (y - y.mean(0)) / y.std(0, correction=0).clamp(min=0.1)
    extra = choose("", "", "constant", "duplicate")
    if extra == "constant":
        x = torch.cat([x, torch.ones(samples, 2)], 1)
    elif extra == "duplicate":
        x = torch.cat([x, x[:, : 1 + features // 2]], 1)
    unit = choose("", "", "", "one unit", "one unit", "units")
    if unit:
        count = 1 if unit == "one unit" else x.shape[1]
        powers = torch.randint(-6, 7, (count,), generator=generator)
        x = x * 10.0**powers
        unit = f"1e{int(powers)}" if unit == "one unit" else unit
    widths = [choose(8, 16, 32, 64) for _ in range(choose(1, 2))]
    activation = choose(nn.ReLU, nn.ReLU, nn.Tanh, nn.GELU)
    batch, steps = choose(1, 5, 20, 100, samples), choose(100, 200, 300)
    batch = min(batch, samples)
    words = [goal, f"{samples}x{x.shape[1]}", kind, extra, unit]
    words += ["-".join(map(str, widths)), activation.__name__.lower(), f"batch {batch}"]
    return Task(x, y, outputs, widths, activation, batch, steps, " ".join(w for w in words if w))


def learn(task: Task, optimizer: str, rate: float, seed: int, gauge: dict | None) -> float:
    """The training loss at the end relative to that at the start, or to 0.001 where it is less."""
    model = task.model(seed)
    optimizers = OPTIMIZERS[optimizer][1](*methods.split(model), rate)
    if gauge is not None:
        optimizers = [RoundTrip(model, optimizers, **gauge)]
    first = task.loss(model).item()
    for rows in task.batches(seed):
        loss = task.loss(model, rows)
        model.zero_grad()
        loss.backward()
        for o in optimizers:
            o.step()
    last = task.loss(model).item()
    relative = last / max(first, 1e-3)
    return relative if relative < DIVERGED else math.inf  # NaN too


def measure(
    number: int, optimizer: str, gauge: dict, noise: float, tuned: bool
) -> dict[str, float]:
    what, rate = task(number), OPTIMIZERS[optimizer][0]
    seed, rates = 2 * number, {}
    for key, options in (("plain", None), ("gauge", gauge)):
        rates[key] = rate
        if tuned:
            losses = {f: learn(what, optimizer, rate * f, seed + 1, options) for f in FACTORS}
            rates[key] = rate * min(losses, key=lambda f: losses[f])
    plain = rates["plain"]
    return {
        "plain_rate": plain,
        "gauge_rate": rates["gauge"],
        "plain": learn(what, optimizer, plain, seed, None),
        "noise": learn(what, optimizer, noise * plain, seed, None),
        "gauge": learn(what, optimizer, rates["gauge"], seed, gauge),
    }


FIELDS = ("task", "optimizer", "plain_rate", "gauge_rate", "plain", "noise", "gauge")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="CSV file to write or go on with")
    parser.add_argument("--tasks", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="number of the first task")
    parser.add_argument("--optimizers", nargs="+", default=list(OPTIMIZERS), choices=OPTIMIZERS)
    parser.add_argument("--tuned", action="store_true", help="the best of five rates for both")
    parser.add_argument("--noise", type=float, default=1.001, help="factor on the rate")
    parser.add_argument(
        "--gauge", nargs="*", default=[], metavar="OPTION=VALUE", help="of RoundTrip"
    )
    arguments = parser.parse_args()
    gauge = {}
    for option in arguments.gauge:
        key, _, value = option.partition("=")
        gauge[key] = value if value.isalpha() and value != "None" else ast.literal_eval(value)
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", "RoundTrip steps")
    command, rows = f"# python {shlex.join(sys.argv)}", []
    if arguments.out.exists():
        with arguments.out.open() as file:
            if file.readline().rstrip("\n") != command:
                sys.exit(f"{arguments.out}: written by another command; choose another --out")
            file.readline()
            rows = list(csv.DictReader(file))
    finished = {(row["task"], row["optimizer"]) for row in rows}
    with arguments.out.open("a", newline="") as file:
        table = csv.DictWriter(file, [*FIELDS, "cpu_seconds", "name"], lineterminator="\n")
        if not rows:
            file.truncate(0)
            print(f"{command}\n# {datetime.date.today()}, {harness.describe_machine()}", file=file)
            table.writeheader()
        for number in range(arguments.first, arguments.first + arguments.tasks):
            for optimizer in arguments.optimizers:
                if (str(number), optimizer) in finished:
                    continue
                start = time.process_time()
                found = measure(number, optimizer, gauge, arguments.noise, arguments.tuned)
                row = {key: f"{value:.4g}" for key, value in found.items()}
                row |= {"task": str(number), "optimizer": optimizer, "name": task(number).name}
                row["cpu_seconds"] = f"{time.process_time() - start:.2f}"
                rows.append(row)
                table.writerow(row)
                file.flush()
    print(harm_of(rows))


if __name__ == "__main__":
    main()
