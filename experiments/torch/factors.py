# SPDX-License-Identifier: MIT
"""Where the loss sees a product of matrices only, in full batches and double precision.

deep: a linear network 32-32-32-32 learns a matrix of condition 100 from inputs of condition 100.
lora: a frozen network 64-64-64 and the same with a shift of rank 4 and condition 100 in each layer,
learnt by LoRA pairs. Three seeds; of each method the rate whose worst seed ends lowest. Full
batches allow for less damping than mini-batches: 0.001. In the metric gauge gradient descent steps
by G (A + lambda I)^-1, the others keep the length of their steps; white is power 0.5.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import math
import shlex
import sys
import time
from pathlib import Path

import harness
import torch
from methods import METHODS, climb
from torch import nn
from torch.nn import functional as F

from symport.torch.round_trip import RoundTrip

STEPS = {"deep": 300, "lora": 300}
SEEDS = (1, 2, 3)
FULL = {"damping": 1e-3, "rows": None}
METRIC, WHITE = {"length": "metric", **FULL}, {"power": 0.5, **FULL}

#: Method -> optimizer, gauge, and where the search for the best rate begins on deep and on lora.
ROWS: dict[str, tuple[str, dict | None, dict[str, float]]] = {
    "sgd": ("sgd", None, {"deep": 0.2, "lora": 1.0}),
    "momentum": ("momentum", None, {"deep": 0.05, "lora": 0.5}),
    "adamw": ("adamw, one rate", None, {"deep": 0.05, "lora": 0.05}),
    "sgd in the metric gauge": ("sgd", METRIC, {"deep": 0.3, "lora": 0.5}),
    "momentum in the metric gauge": ("momentum", METRIC, {"deep": 0.02, "lora": 0.05}),
    "adamw in the gauge": ("adamw, one rate", FULL, {"deep": 0.05, "lora": 0.05}),
    "adamw in the white gauge": ("adamw, one rate", WHITE, {"deep": 0.05, "lora": 0.01}),
}


def of_condition(rows: int, columns: int, rank: int, condition: float) -> torch.Tensor:
    U = torch.linalg.qr(torch.randn(rows, rank))[0]
    V = torch.linalg.qr(torch.randn(columns, rank))[0]
    return U @ torch.diag(torch.logspace(0, -math.log10(condition), rank)) @ V.T


class Lora(nn.Module):
    def __init__(self, rank: int):
        super().__init__()
        self.base = nn.Linear(64, 64, bias=False)
        self.base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(rank, 64) / 8)
        self.lora_B = nn.Parameter(torch.zeros(64, rank))

    def forward(self, x):
        return self.base(x) + x @ self.lora_A.T @ self.lora_B.T


def problem(task: str, seed: int):
    """Model, inputs and targets."""
    torch.manual_seed(seed)
    torch.set_default_dtype(torch.float64)
    if task == "deep":
        x = torch.randn(256, 32) @ of_condition(32, 32, 32, 100) * 3
        model = nn.Sequential(*(nn.Linear(32, 32, bias=False) for _ in range(3)))
        for layer in model:
            nn.init.orthogonal_(layer.weight)
        return model, x, x @ of_condition(32, 32, 32, 100).T
    x = torch.randn(512, 64)
    model = nn.Sequential(Lora(4), nn.LeakyReLU(0.1), Lora(4))
    teacher = [layer.base.weight + of_condition(64, 64, 4, 100) for layer in (model[0], model[2])]
    return model, x, F.leaky_relu(x @ teacher[0].T, 0.1) @ teacher[1].T


def losses(task: str, method: str, rate: float, seed: int, steps: int) -> tuple[list[float], float]:
    """The loss before each step and after the last one, relative to the first; CPU seconds."""
    model, x, y = problem(task, seed)
    parameters = [p for p in model.parameters() if p.requires_grad]
    name, gauge, _ = ROWS[method]
    setting = {**METHODS[name].start, "rate": rate}
    (optimizer,) = METHODS[name].make(parameters, [], setting)
    if gauge is not None:
        optimizer = RoundTrip(model, optimizer, **gauge)
    found, start = [], time.process_time()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (model(x) - y).square().sum(1).mean() / 2
        found.append(loss.item())
        if not math.isfinite(found[-1]) or found[-1] > 1e3 * found[0]:
            return [math.inf], time.process_time() - start
        loss.backward()
        optimizer.step()
    seconds = time.process_time() - start
    found.append(((model(x) - y).square().sum(1).mean() / 2).item())
    return [value / found[0] for value in found], seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="CSV file to write")
    parser.add_argument("--tasks", nargs="+", default=list(STEPS), choices=list(STEPS))
    parser.add_argument("--methods", nargs="+", default=list(ROWS), choices=list(ROWS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with arguments.out.open("w", newline="") as file:
        print(f"# python {shlex.join(sys.argv)}", file=file)
        print(f"# {datetime.date.today()}, {harness.describe_machine()}", file=file)
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("task", "method", "rate", "seed", "cpu_seconds", "step", "relative_loss"))
        for task in arguments.tasks:
            for method in arguments.methods:
                start, best = ROWS[method][2][task], {}

                def worst(rate: float, task: str = task, method: str = method, best=best) -> float:
                    best[rate] = [losses(task, method, rate, s, STEPS[task]) for s in SEEDS]
                    return max(found[-1] for found, _ in best[rate])

                rate = climb({"rate": start}, lambda s: worst(s["rate"]), 20)["rate"]
                for seed, (found, seconds) in zip(SEEDS, best[rate], strict=True):
                    for step in (20, 50, 100, STEPS[task]):
                        value = found[step] if len(found) > step else math.inf
                        row = (task, method, rate, seed, f"{seconds:.2f}", step, f"{value:.3g}")
                        table.writerow(row)
                file.flush()
                scores = {r: f"{max(found[-1] for found, _ in best[r]):.2g}" for r in sorted(best)}
                print(f"{task} {method:28} worst seed by rate: {scores}", flush=True)


if __name__ == "__main__":
    main()
