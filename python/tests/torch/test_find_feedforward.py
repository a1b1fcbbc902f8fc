# SPDX-License-Identifier: MIT
"""find_symmetries in multilayer perceptrons and convolutional networks."""

import pytest
import torch
from finding import find, summary
from models import MLP, VGG, DenseNet, ResNet
from torch import nn

from symport.torch import find_symmetries


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def test_mlp():
    symmetries = find(MLP(3, 4, 5, 2))
    assert summary(symmetries) == [("R+^4", "0 → 2", 1), ("R+^5", "2 → 4", 1)]
    slots = [(s.tensor, s.axis, s.start, s.stop, s.rho) for s in symmetries.groups[0].slots]
    assert slots == [
        ("0.weight", 0, 0, 4, 1),
        ("0.bias", 0, 0, 4, 1),
        ("2.weight", 1, 0, 4, -1),
    ]
    assert symmetries.groups[0].residual < 1e-14 and symmetries.drift < 1e-14


@pytest.mark.parametrize("activation", ["leaky_relu", "prelu"])
def test_homogeneous_activations(activation):
    symmetries = find(MLP(3, 4, 2, activation=activation))
    assert summary(symmetries) == [("R+^4", "0 → 2", 1)]


def test_squared_relu_has_charges_one_and_minus_two():
    symmetries = find(MLP(3, 4, 2, activation="squared_relu"))
    assert [slot.rho for slot in symmetries.groups[0].slots] == [1, 1, -2]


@pytest.mark.parametrize(
    "activation",
    ["relu6", "gelu", "silu", "tanh", "elu", "softplus", "hardswish", "hardtanh", "sigmoid"],
)
def test_other_activations_are_refused_with_a_reason(activation):
    symmetries = find(MLP(3, 4, 2, activation=activation))
    assert symmetries.groups == []
    assert [refusal.where for refusal in symmetries.refused] == ["0"]
    assert any(word in symmetries.refused[0].reason for word in ("homogeneous", "saturate"))


def test_linear_layers_without_activation_have_gl():
    symmetries = find(MLP(3, 4, 5, 2, activation="identity"))
    assert summary(symmetries) == [("GL(4)", "0 → 2", 1), ("GL(5)", "2 → 4", 1)]
    assert symmetries.dimension == 16 + 25


def test_dropout_keeps_scalings_and_forbids_mixing():
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 2))
    assert summary(find_symmetries(model, torch.randn(9, 3))) == [("R+^4", "0 → 2", 1)]
    assert summary(find_symmetries(model.eval(), torch.randn(9, 3))) == [("GL(4)", "0 → 2", 1)]


def test_convolution_pooling_and_flatten():
    symmetries = find(VGG(dropout=0.2))
    assert summary(symmetries) == [
        ("R+^6", "features: 0 → 3", 1),
        ("R+^12", "features.3 → classifier.0", 1),
        ("R+^10", "classifier: 0 → 3", 1),
    ]
    flatten = symmetries.groups[1].slots[-1]
    assert (flatten.tensor, flatten.stop, flatten.repeat) == ("classifier.0.weight", 48, 4)


def test_depthwise_and_transposed_convolutions():
    model = nn.Sequential(
        nn.Conv2d(2, 4, 1),
        nn.ReLU(),
        nn.Conv2d(4, 4, 3, groups=4),
        nn.ReLU(),
        nn.ConvTranspose2d(4, 3, 2),
    )
    symmetries = find_symmetries(model, torch.randn(2, 2, 5, 5))
    assert summary(symmetries) == [("R+^4", "0 → 2", 1), ("R+^4", "2 → 4", 1)]
    assert symmetries.groups[1].slots[-1].axis == 0  # ConvTranspose2d keeps its inputs on axis 0


def test_residual_streams_and_batch_norm_in_train_mode():
    symmetries = find(ResNet())
    assert summary(symmetries) == [
        (
            "R+^4",
            "bn1, layers.0.bn2, layers.1.bn2 → layers.0.conv1, layers.1.conv1, layers.2.conv1,"
            " layers.2.downsample.0",
            1,
        ),
        ("R+^4", "layers.0: bn1 → conv2", 1),
        ("R+^4", "layers.1: bn1 → conv2", 1),
        ("R+^8", "layers.2: bn1 → conv2", 1),
        ("R+^8", "layers.2.bn2, layers.2.downsample.1 → fc", 1),
    ]
    assert any("epsilon" in r.reason and r.where == "conv1" for r in symmetries.refused)


def test_batch_norm_in_eval_mode_moves_the_running_statistics():
    model = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3), nn.ReLU(), nn.Conv2d(3, 2, 1))
    model[1].running_var.uniform_(0.5, 2.0)
    model[1].running_mean.normal_()
    model.eval()
    symmetries = find_symmetries(model, torch.randn(2, 2, 4, 4))
    assert [g.name for g in symmetries.groups] == ["R+^3"] * 3
    statistics = [s for g in symmetries.groups for s in g.slots if "running" in s.tensor]
    assert {s.tensor for s in statistics} == {"1.running_mean", "1.running_var"}
    for group in symmetries.groups:
        moves_statistics = any("running" in slot.tensor for slot in group.slots)
        assert ("eval mode only" in group.note) == moves_statistics
    variance = next(s for s in statistics if s.tensor == "1.running_var")
    assert (variance.rho, variance.shift) == (2, model[1].eps)


def test_concatenation_and_group_norm():
    assert summary(find(DenseNet())) == [("R+^8", "norm → conv2", 1), ("R+^4", "conv2 → fc", 1)]
