# SPDX-License-Identifier: MIT
"""From a PyTorch model to a gauge file, to a balanced file of its weights, and back."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import symport
import symport.torch as st


def networks():
    torch.manual_seed(0)
    perceptron = nn.Sequential(
        nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3)
    )
    convolution = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)
    )
    return [(perceptron, torch.randn(5, 6)), (convolution, torch.randn(2, 1, 8, 8))]


@pytest.mark.parametrize("case", [0, 1])
def test_a_balanced_file_gives_the_same_outputs_bit_for_bit(case, tmp_path):
    model, x = networks()[case]
    with torch.no_grad():
        model[0].weight.mul_(32)
    model.eval()
    before = model(x)
    st.find_symmetries(model, x).save(tmp_path / "gauge.json")
    state = {name: tensor.numpy().copy() for name, tensor in model.state_dict().items()}
    np.savez(tmp_path / "model.npz", **state)
    certificate = symport.balance_file(
        tmp_path / "model.npz", tmp_path / "gauge.json", tmp_path / "out.npz"
    )
    assert certificate.accepted and certificate.bit_exact, certificate
    assert certificate.squared_norm_after < 0.5 * certificate.squared_norm_before
    moved = np.load(tmp_path / "out.npz")
    model.load_state_dict({name: torch.from_numpy(moved[name]) for name in state})
    assert not np.array_equal(moved["0.weight"], state["0.weight"])
    assert torch.equal(model(x), before)


def test_symmetries_are_a_gauge_for_arrays():
    model, x = networks()[0]
    symmetries = st.find_symmetries(model, x)
    tensors = {name: tensor.numpy().copy() for name, tensor in model.state_dict().items()}
    tensors["0.weight"] *= 32
    assert symport.balance(tensors, symmetries).bit_exact
