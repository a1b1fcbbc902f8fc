# SPDX-License-Identifier: MIT
"""How the experiments in experiments/torch choose their settings, and write their tables."""

from __future__ import annotations

import math
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "experiments" / "torch"))
import table  # noqa: E402
from methods import climb, next_rate  # noqa: E402


def choose(start, score, budget=100):
    tried = []

    def scored(setting):
        tried.append(dict(setting))
        return score(setting)

    return climb(start, scored, budget), tried


def test_a_climb_finds_the_best_setting_in_all_its_numbers() -> None:
    def score(s):
        return abs(math.log(s["rate"] / 0.5)) + abs(s["momentum"] - 0.7) + 3 * s["decay"]

    best, tried = choose({"rate": 0.01, "momentum": 0.95, "decay": 0.1}, score)
    assert best == {"rate": 0.5, "momentum": 0.7, "decay": 0.0}
    assert len(tried) == len({tuple(s.items()) for s in tried})  # nothing is tried twice


def test_a_climb_ends_with_its_budget_and_the_best_so_far() -> None:
    best, tried = choose({"rate": 0.01}, lambda s: -s["rate"], budget=5)
    assert len(tried) == 5
    assert best["rate"] == max(s["rate"] for s in tried)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_runs_that_diverge_are_never_the_best(bad) -> None:
    best, _ = choose({"rate": 0.1}, lambda s: bad if s["rate"] > 0.1 else 1 + abs(s["rate"] - 0.1))
    assert best["rate"] == 0.1


def test_neighbours_in_the_series() -> None:
    assert [next_rate(r, True) for r in (0.1, 0.3, 5e-4)] == [0.2, 0.5, 1e-3]
    assert [next_rate(r, False) for r in (0.1, 0.3, 1e-3)] == [0.05, 0.2, 5e-4]


def test_a_table_pairs_the_seeds(tmp_path, monkeypatch) -> None:
    rows = ["part,method,setting,seed,epoch,cpu_seconds,train,validation,accuracy"]
    for seed, plain, other in ((1, 2.0, 1.9), (2, 3.0, 2.8)):
        rows.append(f"judging,plain,rate=1,{seed},1,5,1,{plain},0.5")
        rows.append(f"judging,other,rate=2,{seed},1,6,1,{other},0.5")
    (tmp_path / "some.csv").write_text("# command\n# machine\n" + "\n".join(rows) + "\n")
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    lines = table.table("some.csv", "plain").splitlines()
    assert (
        "| other | rate=2 | 1 | 2.3500 ± 0.4500 | -0.1500 ± 0.0500; lower on 2 of 2 | 6.0 |"
        in lines
    )
    page = tmp_path / "page.md"
    page.write_text("<!-- table some.csv plain -->\nold\n<!-- end -->\nafter\n")
    monkeypatch.setattr(sys, "argv", ["table.py", str(page), "--check"])
    assert table.main() == 1
    monkeypatch.setattr(sys, "argv", ["table.py", str(page)])
    assert table.main() == 0
    monkeypatch.setattr(sys, "argv", ["table.py", str(page), "--check"])
    assert table.main() == 0
