#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of a page from the CSV files that the experiments wrote.

    python experiments/torch/table.py PAGE [--check]

A table stands between a line that names it and the line `<!-- end -->`:

    <!-- table FILE -->       one row for each method: its setting, means over the seeds with their
                              standard errors, and for methods in the gauge the mean paired
                              difference of the validation loss to the plain optimizer's
    <!-- worth SHORT LONG --> how many steps without a gauge a step in it is worth: the losses of
                              plain runs are interpolated in the logarithm of the steps
    <!-- defaults FILE -->    the mean differences to plain runs of each gauge that was tried
    <!-- harm FILE -->        how often the gauge ends higher and lower than the plain optimizer,
                              and how often a rate times 1.001 does (harm.py says what counts)

With --check nothing is written, and the exit status is 1 if the page shows anything else than the
files do.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
import statistics
import sys
from pathlib import Path

IN_GAUGE = " in the gauge"  # ends the names of methods that step there
FLOOR, HARM, SERIOUS = 1e-3, 1.1, 2.0  # harm.py has the words
RESULTS = Path(__file__).parent / "results"
Runs = dict[str, dict[str, dict[str, str]]]  # method -> seed -> the last row of the run


def read(name: str) -> list[dict[str, str]]:
    with (RESULTS / name).open() as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def judged(name: str) -> tuple[Runs, dict[str, int]]:
    """The last rows of the runs that judge, and how many settings were tried for each method."""
    runs: Runs = {}
    tried: dict[str, set[str]] = {}
    for row in read(name):
        method = row["method"]
        if row["part"] == "tuning":
            tried.setdefault(method, set()).add(row["setting"])
            continue
        if row["part"] == "same setting":
            method += f", setting of {method.removesuffix(IN_GAUGE)}"
        runs.setdefault(method, {})[row["seed"]] = row
    return runs, {method: len(settings) for method, settings in tried.items()}


def spread(values: list[float]) -> tuple[float, float]:
    """Mean and standard error; infinite where a run diverged."""
    if not all(map(math.isfinite, values)):
        return math.inf, math.inf
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return statistics.mean(values), error


def differences(runs: Runs, method: str, plain: str) -> list[float]:
    """Of validation losses, paired by seed."""
    shared = [seed for seed in runs[method] if seed in runs.get(plain, {})]
    return [
        float(runs[method][s]["validation"]) - float(runs[plain][s]["validation"]) for s in shared
    ]


def table(name: str) -> str:
    runs, tried = judged(name)
    images = any(float(r["accuracy"]) > 0.6 for seeds in runs.values() for r in seeds.values())
    head = ["method", "setting", "tried", "validation loss", "against plain"]
    head += (["training loss", "accuracy, %"] if images else []) + ["CPU s"]
    lines = []

    def values(method: str, key: str) -> list[float]:
        return [float(row[key]) for row in runs[method].values()]

    for method in sorted(runs, key=lambda m: spread(values(m, "validation"))[0]):
        plain = method.split(IN_GAUGE)[0]
        count = "" if "setting of" in method else str(tried.get(method, 1))
        cells = [method, next(iter(runs[method].values()))["setting"], count]
        losses = values(method, "validation")
        mean, error = spread(losses)
        if math.isinf(mean):
            diverged = sum(not math.isfinite(v) for v in losses)
            cells.append(f"diverged on {diverged} of {len(losses)}")
            lines.append(cells + [""] * (len(head) - len(cells)))
            continue
        cells.append(f"{mean:.4f} ± {error:.4f}")
        pairs = differences(runs, method, plain)
        if method == plain or not pairs:
            cells.append("")
        else:
            mean, error = spread(pairs)
            wins = sum(p < 0 for p in pairs)
            cells.append(f"{mean:+.4f} ± {error:.4f}; lower on {wins} of {len(pairs)}")
        if images:
            cells.append(f"{statistics.mean(values(method, 'train')):.4f}")
            accuracy, error = spread([100 * a for a in values(method, "accuracy")])
            cells.append(f"{accuracy:.2f} ± {error:.2f}")
        cells.append(f"{statistics.median(values(method, 'cpu_seconds')):.1f}")
        lines.append(cells)
    return markdown(head, lines)


def worth(short: str, long: str) -> str:
    before, after = judged(short)[0], judged(long)[0]
    steps = [max(int(r["epoch"]) for r in read(name)) for name in (short, long)]
    lines = []
    for method in after:
        plain = method.removesuffix(IN_GAUGE)
        if not method.endswith(IN_GAUGE) or method not in before:
            continue
        factors, losses = [], []
        for seed in before[method]:
            if any(seed not in runs for runs in (before[plain], after[plain])):
                continue
            a, b, g = (
                float(runs[m][seed]["validation"])
                for runs, m in ((before, plain), (after, plain), (before, method))
            )
            factors.append((steps[1] / steps[0]) ** ((a - g) / (a - b)))
            losses.append((a, g, b))
        mean, error = spread(factors)
        a, g, b = (statistics.mean(column) for column in zip(*losses, strict=True))
        cells = [plain, f"{a:.4f}", f"{g:.4f}", f"{b:.4f}", f"{mean:.2f} ± {error:.2f}"]
        lines.append(cells)
    head = ["optimizer", "plain", "in the gauge", f"plain, {steps[1] / steps[0]:g} times the steps"]
    return markdown([*head, "a step in the gauge is worth"], lines)


def defaults(name: str) -> str:
    last = {(r["part"], r["method"], r["seed"]): float(r["validation"]) for r in read(name)}
    parts = [p for p in dict.fromkeys(part for part, _, _ in last) if not p.endswith("tuning")]
    columns: dict[tuple[str, str], None] = {}
    cells: dict[str, dict[tuple[str, str], list[float]]] = {}
    for (part, method, seed), value in last.items():
        optimizer, _, options = method.partition(" ")
        if part not in parts or not options:
            continue
        columns[part, optimizer] = None
        row = cells.setdefault(options, {}).setdefault((part, optimizer), [])
        row.append(value - last[part, optimizer, seed])
    head = ["gauge", *(f"{part}: {optimizer}" for part, optimizer in columns)]

    def cell(values: list[float]) -> str:
        mean = spread(values)[0]
        return f"{mean:+.3f}" if math.isfinite(mean) else "diverged"

    lines = [
        [options, *(cell(row[c]) if c in row else "" for c in columns)]
        for options, row in cells.items()
    ]
    return markdown(head, lines)


def ratio(row: dict[str, str], key: str) -> float:
    """Of the final losses, not below the floor; 1 where both diverged."""
    loss, plain = (max(float(row[k]), FLOOR) for k in (key, "plain"))
    return 1.0 if loss == plain else loss / plain


def harm_of(rows: list[dict[str, str]]) -> str:
    names = list(dict.fromkeys(row["optimizer"] for row in rows))
    lines = []
    for name in [*names, "all"]:
        chosen = [row for row in rows if name in (row["optimizer"], "all")]
        shares = []
        for key in ("gauge", "noise"):
            ratios = [ratio(row, key) for row in chosen]
            counts = (
                sum(r > HARM for r in ratios),
                sum(r > SERIOUS for r in ratios),
                sum(r < 1 / HARM for r in ratios),
            )
            shares.append([100 * count / len(chosen) for count in counts])
        (harm, serious, help), (harm_noise, serious_noise, help_noise) = shares
        numbers = [harm, serious, help, harm_noise, serious_noise, help_noise]
        numbers += [harm - harm_noise, serious - serious_noise]
        lines.append([name, str(len(chosen)), *(f"{number:.1f}" for number in numbers)])
    head = ["optimizer", "tasks", "harm, %", "serious", "help"]
    head += ["rate × 1.001: harm", "serious", "help", "above that: harm", "serious"]
    return markdown(head, lines)


def harm(name: str) -> str:
    return harm_of(read(name))


def markdown(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


TABLES = {"table": table, "worth": worth, "defaults": defaults, "harm": harm}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    text = arguments.page.read_text(encoding="utf-8")
    written = re.sub(
        rf"(<!-- ({'|'.join(TABLES)}) (.+?) -->\n).*?(?=<!-- end -->)",
        lambda match: f"{match[1]}{TABLES[match[2]](*match[3].split())}\n",
        text,
        flags=re.DOTALL,
    )
    if arguments.check:
        if written != text:
            print(
                f"{arguments.page}: its tables are not those of {RESULTS.name}/*.csv",
                file=sys.stderr,
            )
        return int(written != text)
    arguments.page.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
