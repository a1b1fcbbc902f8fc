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


HEAD = "part,method,setting,seed,epoch,cpu_seconds,train,validation,accuracy"


def write(path: pathlib.Path, rows: list[str]) -> None:
    path.write_text("# command\n# machine\n" + "\n".join([HEAD, *rows]) + "\n")


def test_a_table_pairs_the_seeds(tmp_path, monkeypatch) -> None:
    rows = ["tuning,plain,rate=3,0,1,5,1,0.1,0.5"]  # does not judge
    for seed, plain, same, best in ((1, 2.0, 1.9, 1.5), (2, 3.0, 2.8, 2.7)):
        rows.append(f"judging,plain,rate=1,{seed},1,5,1,{plain},0.5")
        rows.append(f"same setting,plain in the gauge,rate=1,{seed},1,6,1,{same},0.5")
        rows.append(f"judging,plain in the gauge,rate=2,{seed},1,6,1,{best},0.5")
    write(tmp_path / "some.csv", rows)
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    assert table.table("some.csv").splitlines()[2:] == [
        "| plain in the gauge | rate=2 | 1 | 2.1000 ± 0.6000 | -0.4000 ± 0.1000; lower on 2 of 2"
        " | 6.0 |",
        "| plain in the gauge, setting of plain | rate=1 |  | 2.3500 ± 0.4500 | -0.1500 ± 0.0500;"
        " lower on 2 of 2 | 6.0 |",
        "| plain | rate=1 | 1 | 2.5000 ± 0.5000 |  | 5.0 |",
    ]
    page = tmp_path / "page.md"
    page.write_text("<!-- table some.csv -->\nold\n<!-- end -->\nafter\n")
    monkeypatch.setattr(sys, "argv", ["table.py", str(page), "--check"])
    assert table.main() == 1
    monkeypatch.setattr(sys, "argv", ["table.py", str(page)])
    assert table.main() == 0
    monkeypatch.setattr(sys, "argv", ["table.py", str(page), "--check"])
    assert table.main() == 0


def test_what_a_step_is_worth(tmp_path, monkeypatch) -> None:
    """Where plain runs lose 1 from 3 to 9 epochs, half of that is worth sqrt(3) times the steps."""

    def rows(epoch, plain, gauge):
        return [
            f"judging,{method},rate=1,{seed},{epoch},5,1,{loss + seed},0.5"
            for seed in (1, 2)
            for method, loss in (("muon", plain), ("muon in the gauge", gauge))
        ]

    write(tmp_path / "short.csv", rows(3, 3.0, 2.5))
    write(tmp_path / "long.csv", rows(9, 2.0, 1.8))
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    assert table.worth("short.csv", "long.csv").splitlines()[2] == (
        "| muon | 4.5000 | 4.0000 | 3.5000 | 1.73 ± 0.00 |"
    )


def test_differences_of_the_gauges_that_were_tried(tmp_path, monkeypatch) -> None:
    rows = ["cnn tuning,muon,rate=1,100,1,5,1,9,0.5"]
    for seed, plain, gauge in ((1, 2.0, 1.5), (2, 2.5, 2.4)):
        rows.append(f"cnn,muon,rate=1,{seed},1,5,1,{plain},0.5")
        rows.append(f"cnn,muon power=0.5,rate=1,{seed},1,5,1,{gauge},0.5")
    write(tmp_path / "defaults.csv", rows)
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    assert table.defaults("defaults.csv").splitlines() == [
        "| gauge | cnn: muon |",
        "| --- | --- |",
        "| power=0.5 | -0.300 |",
    ]
