# SPDX-License-Identifier: MIT
"""Two processes with half the batch each take the jumps of one process with the whole batch."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest
import torch

HERE = pathlib.Path(__file__).parent


OBJECTIVES = ("balance", "decrease", "alternate")


def run(size: int, folder: pathlib.Path) -> list[dict]:
    output = folder / f"out{size}"
    worker = [sys.executable, str(HERE / "ddp_worker.py")]
    rest = [str(size), str(folder / f"meet{size}"), str(output), *OBJECTIVES]
    processes = [subprocess.Popen([*worker, str(rank), *rest]) for rank in range(size)]
    try:
        assert [p.wait(timeout=300) for p in processes] == [0] * size
    finally:
        for p in processes:
            p.kill()
    return [torch.load(f"{output}.{rank}") for rank in range(size)]


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> tuple[dict, dict, dict]:
    folder = tmp_path_factory.mktemp("ddp")
    return (*run(2, folder), *run(1, folder))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_all_ranks_take_the_same_jump_and_it_is_that_of_one_process(results, objective) -> None:
    first, second, alone = (r[objective] for r in results)
    for a, b in zip(first["parameters"], second["parameters"], strict=True):
        assert torch.equal(a, b)
    for a, b in zip(first["parameters"], alone["parameters"], strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-13)
    assert any(c["accepted"] for c in alone["certificates"])
    for a, b, c in zip(*(r["certificates"] for r in (first, second, alone)), strict=True):
        assert a["accepted"] == b["accepted"] == c["accepted"]
        assert a["loss_before"] == b["loss_before"]
        assert a["loss_before"] == pytest.approx(c["loss_before"], rel=1e-12)
        assert a["squared_norm_after"] == pytest.approx(c["squared_norm_after"], rel=1e-12)
