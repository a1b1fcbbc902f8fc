# SPDX-License-Identifier: MIT
"""Training scripts with the structure of well-known ones: what one line of Symport does to their
loss curves, and that the scripts are what they were without it."""

from __future__ import annotations

import functools
import math
import pathlib
import types

import pytest
import torch

FOLDER = pathlib.Path(__file__).parents[3] / "examples" / "python" / "loops"
MARK = "# >>>"
NAMES = ("mnist", "nanogpt", "lora_finetune")


def script(name: str, plain: bool) -> types.ModuleType:
    """The script, or what is left of it without the marked lines."""
    path = FOLDER / f"{name}.py"
    lines = path.read_text(encoding="utf-8").splitlines()
    if plain:
        lines = [line for line in lines if MARK not in line]
    module = types.ModuleType(name)
    exec(compile("\n".join(lines), str(path), "exec"), module.__dict__)  # noqa: S102
    return module


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@functools.cache
def curve(name: str, plain: bool, rate: float) -> list:
    flag = "--learning-rate" if name == "nanogpt" else "--lr"
    return script(name, plain).main([flag, str(rate)])


@pytest.mark.parametrize("name", NAMES)
def test_symport_takes_one_line(name: str) -> None:
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    marked = [line.strip() for line in text.splitlines() if line.rstrip().endswith(MARK)]
    assert marked[0] == f"import symport.torch as st  {MARK}"
    assert len(marked) == 2 and marked[1].startswith("optimizer = st.RoundTrip(model, optimizer")


def test_mnist() -> None:
    """At the same rates, and at the best of each."""
    rates = (0.1, 0.2, 0.5)
    plain = [curve("mnist", True, rate)[-1][1] for rate in rates]
    trips = [curve("mnist", False, rate)[-1][1] for rate in rates]
    assert min(plain) == plain[1]  # inside of the grid
    assert all(a < b for a, b in zip(trips, plain, strict=True))
    assert min(trips) < 0.5 * min(plain)


def test_nanogpt() -> None:
    rates = (2e-3, 5e-3, 2e-2)
    plain = [curve("nanogpt", True, rate)[-1] for rate in rates]
    trips = [curve("nanogpt", False, rate)[-1] for rate in rates]
    assert all(a < b for a, b in zip(trips, plain, strict=True))
    assert min(plain) == plain[1]
    assert min(trips) < min(plain) - 0.1


def test_lora() -> None:
    """At any rate, where the plain loop needs a large one. At its best rate, which is near those
    that diverge, the plain loop is as good."""
    slow = curve("lora_finetune", True, 0.1)
    assert slow[-1] > 0.5 * slow[0]
    for rate in (0.1, 2.0):
        found = curve("lora_finetune", False, rate)
        assert found[-1] < 0.1 * found[0]
    plain = [curve("lora_finetune", True, rate)[-1] for rate in (5.0, 10.0)]
    assert not math.isfinite(curve("lora_finetune", True, 20.0)[-1])  # the grid goes far enough
    assert found[-1] < 2 * min(plain)
