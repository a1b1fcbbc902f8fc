# SPDX-License-Identifier: MIT
"""The invariance audit as a test, planted false symmetries, and random models."""

from copy import deepcopy
from pathlib import Path

import pytest
import torch
from audit import MODELS, audit, change
from models import GPT, MLP, Llama
from random_models import random_model
from torch import nn

from symport.torch import Group, Slot, find_symmetries
from symport.torch._find_input import calling
from symport.torch.probe import Probe
from symport.torch.proof import NOETHER_TOLERANCE, Sample, failing, finite_change


@pytest.mark.parametrize("name", MODELS)
def test_finite_elements_leave_the_outputs_unchanged(name):
    rows, _ = audit(name)
    assert bool(rows) == (name not in ("MLP, GELU", "MLP, ReLU6"))
    for row in rows:
        assert row.noether <= 1e-12, row
        assert row.double <= 1e-10, row
        assert row.single <= 1e-5, row
        assert row.powers_of_two or row.group.kind == "orthogonal", row


def test_the_page_lists_every_model():
    page = Path(__file__).parents[3] / "docs" / "python" / "audit.md"
    text = page.read_text()
    for name in MODELS:
        assert f"| {name} |" in text, name


def scale(first: str, second: str, size: int, *more: Slot) -> Group:
    return Group(
        "scale", size, (Slot(first, 0, 0, size, 1, 1), Slot(second, 1, 0, size, 1, -1), *more)
    )


def planted() -> dict[str, tuple[nn.Module, Group]]:
    """Groups that look like symmetries and are none."""
    bias = Slot("0.bias", 0, 0, 8, 1, 1)
    attention = "layers.0."
    return {
        "relu6": (MLP(5, 8, 3, activation="relu6"), scale("0.weight", "2.weight", 8, bias)),
        "gelu": (MLP(5, 8, 3, activation="gelu"), scale("0.weight", "2.weight", 8, bias)),
        "forgotten bias": (MLP(5, 8, 3), scale("0.weight", "2.weight", 8)),
        "gate of SwiGLU": (
            Llama(layers=1),
            scale(attention + "gate_proj.weight", attention + "down_proj.weight", 20),
        ),
        "general g on Q and K with RoPE": (
            Llama(layers=1, kv_heads=4),
            Group(
                "gl",
                4,
                (
                    Slot(attention + "q_proj.weight", 0, 0, 4, 1, "g"),
                    Slot(attention + "k_proj.weight", 0, 0, 4, 1, "g^-T"),
                ),
            ),
        ),
        "last norm into a tied head": (
            GPT(layers=1, tied=True),
            Group(
                "scale",
                12,
                (
                    Slot("ln_f.weight", 0, 0, 12, 1, 1),
                    Slot("ln_f.bias", 0, 0, 12, 1, 1),
                    Slot("wte.weight", 1, 0, 12, 1, -1),
                ),
            ),
        ),
        "GL across ReLU": (
            MLP(5, 8, 3),
            Group(
                "gl",
                8,
                (
                    Slot("0.weight", 0, 0, 8, 1, "g"),
                    Slot("0.bias", 0, 0, 8, 1, "g"),
                    Slot("2.weight", 1, 0, 8, 1, "g^-T"),
                ),
            ),
        ),
        "rotation of a stream with gains": (
            Llama(layers=1, tied=True),
            Group(
                "orthogonal",
                16,
                tuple(
                    Slot(name, axis, 0, 16, 1, "g")
                    for name, axis in [("embed.weight", 1)]
                    + [(f"layers.0.{m}_proj.weight", 1) for m in ("q", "k", "v", "gate", "up")]
                    + [(f"layers.0.{m}_proj.weight", 0) for m in ("o", "down")]
                ),
            ),
        ),
    }


@pytest.mark.parametrize("name", planted())
def test_planted_false_symmetries_are_refused(name):
    """By the search, by both halves of its proof, and by the audit's own measure."""
    torch.manual_seed(0)
    model, group = planted()[name]
    x = model.example()
    symmetries = find_symmetries(model, x)
    places = {(slot.tensor, slot.axis) for slot in group.slots}
    for found in symmetries.groups:
        assert not (
            found.kind == group.kind
            and found.size == group.size
            and places == {(slot.tensor, slot.axis) for slot in found.slots}
        )

    call, inputs = calling(x, None)
    probe = Probe(model, inputs, call)
    changes, found = [], []
    for seed, gain in ((1, 1.0), (2, 2.0)):
        values = probe.randomise(seed, gain)
        changes.append(finite_change(probe, [group], 3))
        found.append(list(failing(probe, [group], 3)[0]))
    # The first sample may not saturate relu6, the second one saturates softmax.
    assert max(changes) > 1e-4
    assert [0] in found
    sample = Sample(values, probe.gradients(list(probe.parameters), 1))
    if group.kind == "scale":
        assert sample.scale_residual(group.slots)[0] > 1e4 * NOETHER_TOLERANCE
    else:
        numbers = {"g": 1, "g^-T": -1}
        slots = [
            Slot(s.tensor, s.axis, s.start, s.stop, s.repeat, numbers[s.rho]) for s in group.slots
        ]
        residual = sample.matrix_residual(slots, group.kind == "orthogonal")
        assert residual.max() > 1e4 * NOETHER_TOLERANCE

    wide = shaken(model)
    x = 10 * x.double() if x.is_floating_point() else x
    element = [group.random_element(torch.Generator().manual_seed(0), 0.5)]
    assert change(wide, x, [group], element) > 1e-6


def shaken(model: nn.Module) -> nn.Module:
    """A copy in double precision at other parameters."""
    wide = deepcopy(model).double()
    with torch.no_grad():
        for parameter in wide.parameters():
            parameter.mul_(1.5).add_(0.5 * torch.randn_like(parameter))
    return wide


def false_positives(seeds: range) -> tuple[list[str], int]:
    """Random models: groups whose finite elements change the output at fresh random parameters."""
    wrong, count = [], 0
    for seed in seeds:
        model, x = random_model(seed)
        groups = find_symmetries(model, x).groups
        count += len(groups)
        if not groups:
            continue
        torch.manual_seed(10_000 + seed)
        wide = shaken(model)
        x = x.double() + 0.5 * torch.randn_like(x.double())
        for number, group in enumerate(groups):
            size = 0.7 if group.kind == "scale" else 0.7 / group.size**0.5
            element = [group.random_element(torch.Generator().manual_seed(number), size)]
            for factor in (2, 10):  # large inputs saturate what can saturate
                moved = change(wide, factor * x, [group], element)
                if not moved <= 1e-9:
                    wrong.append(f"seed {seed}: {group.name} at {group.where}: {moved:.1e}")
    return wrong, count


def test_no_false_positive_in_random_models():
    wrong, count = false_positives(range(100))
    assert wrong == []
    assert count > 100


@pytest.mark.slow
def test_no_false_positive_in_a_thousand_random_models():
    wrong, count = false_positives(range(1000))
    assert wrong == []
    assert count > 1000
