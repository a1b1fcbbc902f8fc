#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often round trips of the program do harm, on the random tables of experiments/torch/harm.py.

    python experiments/roundtrip/harm.py PROGRAM --out FILE.csv [--tasks N] [--methods NAME ...]

Every optimizer learns a task plain at its default rate, at 1.001 times that rate (the noise), and with
`--round-trip` as it is by default. Metric round trips of gradient descent and momentum have their own
default rate and are compared with the plain optimizer at its. Losses are those of the training set at
the end, relative to the first, and those below a thousandth count as that. Harm is more than 1.1 times
the plain loss, serious harm more than twice or divergence (1,000 times the first loss), help less than
1 / 1.1. A run that is in the file is not repeated.
"""
import argparse
import csv
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "torch"))
import harm  # noqa: E402
import table  # noqa: E402

#: optimizer, kind of round trip
METHODS = {
    "gd": ("gd", "kept"),
    "momentum": ("momentum", "kept"),
    "nesterov": ("nesterov", "kept"),
    "adam": ("adam", "kept"),
    "adamw": ("adamw", "kept"),
    "rmsprop": ("rmsprop", "kept"),
    "adagrad": ("adagrad", "kept"),
    "muon": ("muon", "kept"),
    "gd, metric": ("gd", "metric"),
    "momentum, metric": ("momentum", "metric"),
}
ACTIVATIONS = {"ReLU": "relu", "Tanh": "tanh", "GELU": "leaky_relu"}  # the program has no GELU


def learn(program, file, task, optimizer, seed, extra):
    """The relative loss at the end, and the rate."""
    samples = len(task.x)
    layers = [task.x.shape[1], *task.widths, task.outputs]
    words = [program, "train", "--data", file, "--layers", ",".join(map(str, layers)), "--bias",
             "--activation", ACTIVATIONS[task.activation.__name__], "--optimizer", optimizer,
             "--seed", str(seed), "--loss", "mse" if task.y.is_floating_point() else
             "cross_entropy:mean", "--json", "--quiet", *extra]
    if task.batch < samples:
        epochs = max(1, round(task.steps * task.batch / samples))
        words += ["--batch", str(task.batch), "--epochs", str(epochs)]
    else:
        words += ["--steps", str(task.steps)]
    done = subprocess.run(words, capture_output=True, text=True)
    diverged = re.search(r"diverged at .* --lr than ([\d.e-]+\d)", done.stderr)
    if diverged:
        return math.inf, float(diverged[1])
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}\n{done.stderr}")
    run = json.loads(done.stdout)
    rows = run.get("epochs") or run["steps"]
    first, last = rows[0]["train_loss"], run["final_loss"]
    number = last if isinstance(last, (int, float)) else math.inf
    relative = number / max(first, 1e-3)
    good = run["status"] != "diverged" and relative < harm.DIVERGED
    return (relative if good else math.inf), float(run["learning_rate"])


def measure(program, number, method):
    task = harm.task(number)
    optimizer, kind = METHODS[method]
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/task.npz"
        y = task.y.numpy()
        name = "Y" if task.y.is_floating_point() else "y"
        np.savez(file, X=task.x.double().numpy(),
                 **{name: y.astype(np.float64 if name == "Y" else np.int64)})
        plain, rate = learn(program, file, task, optimizer, number, [])
        noise, _ = learn(program, file, task, optimizer, number, ["--lr", f"{1.001 * rate:.10g}"])
        gauge, there = learn(program, file, task, optimizer, number, ["--round-trip", kind])
    return dict(plain_rate=rate, gauge_rate=there, plain=plain, noise=noise, gauge=gauge)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tasks", type=int, default=520)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    arguments = parser.parse_args()
    fields = ["task", "optimizer", "plain_rate", "gauge_rate", "plain", "noise", "gauge",
              "seconds", "name"]
    rows = []
    if arguments.out.exists():
        with arguments.out.open() as file:
            rows = list(csv.DictReader(file))
    finished = {(row["task"], row["optimizer"]) for row in rows}
    with arguments.out.open("a", newline="") as file:
        out = csv.DictWriter(file, fields, lineterminator="\n")
        if not rows:
            out.writeheader()
        for number in range(arguments.first, arguments.first + arguments.tasks):
            for method in arguments.methods:
                if (str(number), method) in finished:
                    continue
                began = time.time()
                found = measure(arguments.program, number, method)
                row = {key: f"{value:.4g}" for key, value in found.items()}
                row |= {"task": str(number), "optimizer": method, "name": harm.task(number).name,
                        "seconds": f"{time.time() - began:.2f}"}
                rows.append(row)
                out.writerow(row)
                file.flush()
    print(table.harm_of(rows))


if __name__ == "__main__":
    main()
