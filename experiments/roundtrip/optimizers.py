#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program's optimizers plain, in a borrowed gauge and in metric round trips, in mini-batches of 100
with a rate that falls linearly to zero.

    python experiments/roundtrip/optimizers.py PROGRAM --out FILE.csv [--tasks TASK ...] [--methods NAME ...]
    python experiments/roundtrip/optimizers.py --table FILE.csv

Every method has the rate on the grid 1, 2, 5, 10 with the lowest validation loss on seed 0, found from
its default by going to the better neighbour for as long as that helps. Seeds 1 to 8 judge: at that
rate, and in the gauge also at the plain optimizer's. Seconds are those of training. A run that is in
the file is not repeated.
"""
import argparse
import csv
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

IMAGES = ["--samples", "20000", "--validation", "10000", "--layers", "784,512,512,10", "--epochs", "3"]
TABLES = ["--validation", "25%", "--scaling", "standard", "--epochs", "15"]
TASKS = {
    "mnist": ["--data", "mnist", *IMAGES],
    "fashion": ["--data", "fashion-mnist", *IMAGES],
    "letter": ["--data", "letter", "--layers", "16,128,128,26", *TABLES],
    "satimage": ["--data", "satimage", "--layers", "36,128,128,6", *TABLES],
}
KEPT, METRIC = ["--round-trip", "kept"], ["--round-trip", "metric"]
#: options, and the rate to begin with
METHODS = {
    "SGD": (["--optimizer", "gd"], 0.2),
    "momentum": (["--optimizer", "momentum"], 0.05),
    "Adam": (["--optimizer", "adam"], 0.001),
    "AdamW": (["--optimizer", "adamw"], 0.001),
    "Muon": (["--optimizer", "muon"], 0.02),
    "SOAP": (["--optimizer", "soap"], 0.002),
    "K-FAC": (["--optimizer", "kfac"], 0.01),
    "momentum in the gauge": (["--optimizer", "momentum", *KEPT], 0.05),
    "Adam in the gauge": (["--optimizer", "adam", *KEPT], 0.001),
    "AdamW in the gauge": (["--optimizer", "adamw", *KEPT], 0.001),
    "Muon in the gauge": (["--optimizer", "muon", *KEPT], 0.02),
    "SGD, metric": (["--optimizer", "gd", *METRIC], 0.5),
    "momentum, metric": (["--optimizer", "momentum", *METRIC], 0.05),
}
GAUGE = " in the gauge"
FIELDS = ["part", "task", "method", "rate", "seed", "train", "validation", "accuracy", "seconds"]
SEEDS = range(1, 9)


def neighbour(rate, up):
    """The next rate on the grid 1, 2, 5, 10."""
    exponent = math.floor(math.log10(rate) + 1e-9)
    grid = [float(f"{m}e{e}") for e in (exponent - 1, exponent, exponent + 1) for m in (1, 2, 5)]
    return min(r for r in grid if r > 1.01 * rate) if up else max(r for r in grid if r < 0.99 * rate)


class Runs:
    def __init__(self, program, path):
        self.program, self.rows = program, {}
        new = not path.exists()
        if not new:
            with path.open() as file:
                for row in csv.DictReader(file):
                    self.rows[self.key(row)] = row
        self.file = path.open("a", newline="")
        self.table = csv.DictWriter(self.file, FIELDS, lineterminator="\n")
        if new:
            self.table.writeheader()

    @staticmethod
    def key(row):
        return row["part"], row["task"], row["method"], str(row["rate"]), str(row["seed"])

    def validation(self, part, task, method, rate, seed):
        row = dict(part=part, task=task, method=method, rate=f"{rate:g}", seed=str(seed))
        if self.key(row) not in self.rows:
            words = [self.program, "train", *TASKS[task], "--batch", "100", "--precision", "float", "--bias",
                     "--lr", f"linear:{rate:g},{TASKS[task][TASKS[task].index('--epochs') + 1]}",
                     "--seed", str(seed), *METHODS[method][0], "--json", "--quiet"]
            done = subprocess.run(words, capture_output=True, text=True)
            if done.stdout:
                last = json.loads(done.stdout)["epochs"][-1]
                row |= dict(train=last["train_loss"], validation=last["valid_loss"],
                            accuracy=last["valid_accuracy"], seconds=last["seconds"])
            elif "diverged" in done.stderr:
                row |= dict(train="inf", validation="inf", accuracy="nan", seconds="nan")
            else:
                sys.exit(f"{' '.join(words)}\n{done.stderr}")
            self.table.writerow(row)
            self.file.flush()
            self.rows[self.key(row)] = row
            print(*row.values(), flush=True)
        value = float(self.rows[self.key(row)]["validation"])
        return value if math.isfinite(value) else math.inf

    def best(self, task, method):
        best = METHODS[method][1]
        lowest = self.validation("tuning", task, method, best, 0)
        for up in (False, True):
            while (found := self.validation("tuning", task, method, neighbour(best, up), 0)) < lowest:
                best, lowest = neighbour(best, up), found
        return best


def table(path):
    with path.open() as file:
        rows = [row for row in csv.DictReader(file) if row["part"] != "tuning"]

    def values(part, task, method, key):
        return {row["seed"]: float(row[key]) for row in rows
                if (row["part"], row["task"], row["method"]) == (part, task, method)}

    def mean(numbers):
        return statistics.fmean(numbers), statistics.stdev(numbers) / len(numbers) ** 0.5

    for task in dict.fromkeys(row["task"] for row in rows):
        print(f"\n**{task}**\n\n| method | rate | training loss | validation loss | against plain | accuracy, % | seconds |")
        print("| --- " * 7 + "|")
        for part, method in dict.fromkeys((r["part"], r["method"]) for r in rows if r["task"] == task):
            losses = values(part, task, method, "validation")
            name = method + (", rate of the plain one" if part == "same rate" else "")
            rate = next(r["rate"] for r in rows if (r["part"], r["task"], r["method"]) == (part, task, method))
            if not all(map(math.isfinite, losses.values())) or len(losses) < 2:
                bad = sum(not math.isfinite(v) for v in losses.values())
                print(f"| {name} | {rate} | diverged on {bad} of {len(losses)} | | | | |")
                continue
            against = ""
            plain = values("judging", task, method.removesuffix(GAUGE), "validation")
            if method.endswith(GAUGE) and plain:
                m, e = mean([losses[s] - plain[s] for s in losses if s in plain])
                against = f"{m:+.4f} ± {e:.4f}"
            m, e = mean(list(losses.values()))
            train, accuracy, seconds = (statistics.fmean(values(part, task, method, k).values())
                                        for k in ("train", "accuracy", "seconds"))
            print(f"| {name} | {rate} | {train:.4f} | {m:.4f} ± {e:.4f} | {against} | {100 * accuracy:.2f} | {seconds:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--table", type=Path, help="only print the tables of this file")
    arguments = parser.parse_args()
    if arguments.table:
        table(arguments.table)
        return
    if not (arguments.program and arguments.out):
        parser.error("needs PROGRAM and --out")
    runs = Runs(arguments.program, arguments.out)
    for task in arguments.tasks:
        for method in arguments.methods:
            rate = runs.best(task, method)
            for seed in SEEDS:
                runs.validation("judging", task, method, rate, seed)
            if method.endswith(GAUGE):
                plain = runs.best(task, method.removesuffix(GAUGE))
                for seed in SEEDS:
                    runs.validation("same rate", task, method, plain, seed)
    table(arguments.out)


if __name__ == "__main__":
    main()
