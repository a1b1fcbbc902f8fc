# SPDX-License-Identifier: MIT
"""The examples run, and what they and the tutorial claim comes out."""

from __future__ import annotations

import importlib.util
import pathlib
import re
import types

import pytest
import torch

ROOT = pathlib.Path(__file__).parents[3]
FOLDER = ROOT / "examples" / "python"


def example(name: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_mlp_leaves_a_bad_gauge_bit_for_bit(capsys) -> None:
    mlp = example("mlp")
    assert mlp.main(method="plain") > 1.0
    capsys.readouterr()
    assert mlp.main() < 0.1
    printed = capsys.readouterr().out
    assert "accepted: moved 2 of 2 groups" in printed and "bit-exact     yes" in printed
    assert mlp.main(method="round-trip") < 0.1


def test_resnet_keeps_every_bit_and_decreases_faster(capsys) -> None:
    resnet = example("resnet")
    plain, _ = resnet.main(teleports=False)
    loss, certificates = resnet.main()
    moved = [c for c in certificates if c.accepted]
    assert len(moved) >= 2
    assert all(c.bit_exact and c.drift == 0 and c.next_loss < c.next_loss_plain for c in moved)
    assert loss < plain / 10


@pytest.mark.filterwarnings("error:Teleporter.step")
def test_gpt_does_not_depend_on_its_initial_gauge() -> None:
    gpt = example("gpt")
    plain = [gpt.main(gauge=g, method="plain") for g in (1.0, 4.0)]
    balanced = [gpt.main(gauge=g) for g in (1.0, 4.0)]
    assert abs(plain[0] - plain[1]) > 0.05
    assert abs(balanced[0] - balanced[1]) < 0.005


def test_round_trips_of_the_gpt_beat_tuned_adamw() -> None:
    gpt = example("gpt")
    rates = (5e-3, 1e-2, 2e-2, 5e-2)
    plain = [gpt.main(method="plain", rate=rate) for rate in rates]
    trips = [gpt.main(method="round-trip", rate=rate) for rate in rates]
    assert min(plain) not in (plain[0], plain[-1])  # the best rate is inside of the grid
    assert all(a < b for a, b in zip(trips, plain, strict=True))
    assert min(trips) < 0.75 * min(plain)


def test_lora_beats_tuned_sgd_tenfold() -> None:
    lora = example("lora")
    plain = min(lora.main(rate=r, teleports=False) for r in (1.0, 2.0, 3.0))
    for rate in (0.1, 0.01):
        assert lora.main(rate=rate) < plain / 10


@pytest.mark.parametrize("name", ["mlp", "resnet", "gpt", "lora"])
def test_symport_takes_at_most_three_lines_of_a_method(name: str) -> None:
    lines = [x for x in (FOLDER / f"{name}.py").read_text().splitlines() if "# >>>" in x]
    round_trips = [x for x in lines if "RoundTrip" in x]
    assert len(lines) - len(round_trips) == 3 and len(round_trips) in (0, 1)


def test_the_code_of_the_tutorial_runs(capsys, monkeypatch, tmp_path) -> None:
    """All Python blocks, one after the other, in one namespace."""
    page = (ROOT / "docs" / "python" / "pytorch.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(blocks) >= 5
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    namespace: dict = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"pytorch.md, block {number}", "exec"), namespace)  # noqa: S102
    assert "accepted" in capsys.readouterr().out
