#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of a page from the CSV files that the experiments wrote.

    python experiments/torch/table.py PAGE [--check]

A table stands between the lines `<!-- table FILE BASELINE -->` and `<!-- end -->`: one row for each
method with its setting, means over the seeds with their standard errors, and the mean paired
difference of the validation loss to the baseline's. With --check nothing is written, and the exit
status is 1 if the page shows anything else than the files do.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
import statistics
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def judged(file: Path) -> tuple[dict[str, dict[str, list[dict]]], dict[str, int]]:
    """method -> seed -> its rows, one an epoch; method -> how many settings were tried."""
    runs: dict[str, dict[str, list[dict]]] = {}
    tried: dict[str, set[str]] = {}
    with file.open() as lines:
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            if row["part"] == "judging":
                runs.setdefault(row["method"], {}).setdefault(row["seed"], []).append(row)
            elif row["part"] == "tuning":
                tried.setdefault(row["method"], set()).add(row["setting"])
    return runs, {method: len(settings) for method, settings in tried.items()}


def spread(values: list[float]) -> tuple[float, float]:
    """Mean and standard error; infinite where a run diverged."""
    if not all(map(math.isfinite, values)):
        return math.inf, math.inf
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return statistics.mean(values), error


def table(name: str, baseline: str) -> str:
    runs, tried = judged(RESULTS / name)
    last = {m: {seed: rows[-1] for seed, rows in seeds.items()} for m, seeds in runs.items()}
    images = any(float(r["accuracy"]) > 0.6 for seeds in last.values() for r in seeds.values())
    head = ["method", "setting", "tried", "validation loss", f"against {baseline}"]
    head += (["training loss", "accuracy, %"] if images else []) + ["CPU s"]
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]

    def values(method: str, key: str) -> list[float]:
        return [float(row[key]) for row in last[method].values()]

    for method in sorted(last, key=lambda m: spread(values(m, "validation"))[0]):
        cells = [method, next(iter(last[method].values()))["setting"], str(tried.get(method, 1))]
        losses = values(method, "validation")
        mean, error = spread(losses)
        if math.isinf(mean):
            diverged = sum(not math.isfinite(v) for v in losses)
            cells.append(f"diverged on {diverged} of {len(losses)}")
            lines.append("| " + " | ".join(cells + [""] * (len(head) - len(cells))) + " |")
            continue
        cells.append(f"{mean:.4f} ± {error:.4f}")
        shared = [seed for seed in last[method] if seed in last[baseline]]
        if method == baseline:
            cells.append("")
        else:
            pairs = [
                float(last[method][s]["validation"]) - float(last[baseline][s]["validation"])
                for s in shared
            ]
            mean, error = spread(pairs)
            wins = sum(p < 0 for p in pairs)
            cells.append(f"{mean:+.4f} ± {error:.4f}; lower on {wins} of {len(pairs)}")
        if images:
            cells.append(f"{statistics.mean(values(method, 'train')):.4f}")
            accuracy, error = spread([100 * a for a in values(method, "accuracy")])
            cells.append(f"{accuracy:.2f} ± {error:.2f}")
        cells.append(f"{statistics.median(values(method, 'cpu_seconds')):.1f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    text = arguments.page.read_text(encoding="utf-8")
    written = re.sub(
        r"(<!-- table (\S+) (.+?) -->\n).*?(?=<!-- end -->)",
        lambda match: f"{match[1]}{table(match[2], match[3])}\n",
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
