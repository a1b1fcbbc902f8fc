# SPDX-License-Identifier: MIT
"""The library's balance (C++, through gauge files) and that of symport.torch find the same point.

They are two programs for one mathematics: the first needs no PyTorch, the second no copy of the
model. For scalings the smallest sum of squares is one point; for GL it is one up to rotations of
the group, which the sum of squares does not see.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from models import GPT, MLP, VGG, DenseNet, Llama, ResNet, add_lora
from torch import nn

import symport
from symport.torch import Symmetries, balance, find_symmetries

SCALED = {"mlp": lambda: MLP(6, 16, 12, 3), "vgg": VGG, "resnet": ResNet, "densenet": DenseNet}
MIXED = {"gpt": GPT, "llama": Llama, "lora": lambda: add_lora(MLP(6, 16, 12, 3))}


def unbalanced(make) -> tuple[nn.Module, Symmetries]:
    """The model in double precision, away from its balance by a random element."""
    torch.manual_seed(0)
    model = make().double()
    with torch.no_grad():  # LoRA's B starts at zero, where there is no balance
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_()
    inputs = model.example()
    if torch.is_tensor(inputs) and inputs.is_floating_point():
        inputs = inputs.double()
    symmetries = find_symmetries(model, inputs)
    symmetries.act(symmetries.random_element(seed=1, size=0.5))
    return model, symmetries


def arrays(model: nn.Module) -> dict[str, np.ndarray]:
    return {name: tensor.detach().numpy().copy() for name, tensor in model.state_dict().items()}


def squares(tensors: dict[str, np.ndarray]) -> float:
    return sum(float(np.sum(value**2)) for value in tensors.values() if value.dtype.kind == "f")


def both(make, scales: str):
    """Certificate and tensors of each side."""
    model, symmetries = unbalanced(make)
    ours = {k: v for k, v in arrays(model).items() if v.dtype.kind == "f"}
    groups = [group for group in symmetries.groups if group.kind in ("scale", "gl")]
    chosen = Symmetries(model, groups, [])
    here = symport.balance(ours, copy.copy(groups), scales=scales)
    there = balance(model, symmetries=chosen, powers_of_two=scales != "any")
    return here, ours, there, arrays(model)


@pytest.mark.parametrize("name", SCALED)
def test_scalings_end_at_the_same_tensors(name: str) -> None:
    here, ours, there, theirs = both(SCALED[name], "any")
    assert here.accepted and there.accepted
    assert squares(ours) == pytest.approx(squares(theirs), rel=1e-7)
    for tensor, value in ours.items():
        np.testing.assert_allclose(value, theirs[tensor], rtol=1e-3, atol=1e-9, err_msg=tensor)


@pytest.mark.parametrize("name", MIXED)
def test_pairs_end_at_the_same_sum_of_squares(name: str) -> None:
    here, ours, there, theirs = both(MIXED[name], "any")
    assert here.accepted and there.accepted
    assert squares(ours) == pytest.approx(squares(theirs), rel=1e-7)


@pytest.mark.parametrize("name", SCALED)
def test_powers_of_two_lose_at_most_a_quarter(name: str) -> None:
    """A unit with equal sides, s away from its best scale by a factor of 2^(1/2) at most, has
    (s^2 + s^-2) / 2 <= 5/4 of its smallest sum of squares. In chains both sides end where no factor
    of two of one unit helps, and there are several such points."""
    *_, best = both(SCALED[name], "any")
    here, ours, there, theirs = both(SCALED[name], "powers-of-two")
    assert here.accepted and there.accepted
    assert here.bit_exact and there.bit_exact
    for found in (ours, theirs):
        assert 1 - 1e-9 <= squares(found) / squares(best) <= 1.25
