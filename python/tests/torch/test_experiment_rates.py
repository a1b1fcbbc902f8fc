# SPDX-License-Identifier: MIT
"""The choice of learning rates in experiments/torch."""

from __future__ import annotations

import math
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "experiments" / "torch"))
from harness import best_rate, next_rate  # noqa: E402


def choose(rates, score):
    tried = []

    def scored(rate):
        tried.append(rate)
        return score(rate)

    return best_rate(rates, scored), tried


def test_a_grid_with_the_best_rate_inside_is_tried_once() -> None:
    assert choose((0.1, 0.5, 0.2), lambda r: abs(r - 0.2)) == (0.2, [0.1, 0.2, 0.5])


@pytest.mark.parametrize(
    "best, tried", [(0.02, [0.1, 0.2, 0.05, 0.02, 0.01]), (1.0, [0.1, 0.2, 0.5, 1.0, 2.0])]
)
def test_a_grid_with_the_best_rate_at_its_end_goes_on(best, tried) -> None:
    assert choose((0.1, 0.2), lambda r: abs(math.log(r / best))) == (best, tried)


def test_runs_that_diverge_are_never_the_best() -> None:
    assert choose((0.1, 0.2, 0.5), lambda r: math.nan if r > 0.1 else 1 + abs(r - 0.1))[0] == 0.1
    assert choose((0.1, 0.2), lambda r: math.inf)[1] == [0.1, 0.2]


def test_neighbours_in_the_series() -> None:
    assert [next_rate(r, True) for r in (0.1, 0.3, 5e-4)] == [0.2, 0.5, 1e-3]
    assert [next_rate(r, False) for r in (0.1, 0.3, 1e-3)] == [0.05, 0.2, 5e-4]
