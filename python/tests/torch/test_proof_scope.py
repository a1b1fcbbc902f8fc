# SPDX-License-Identifier: MIT
"""A proof holds for the model and the mode that it was made in, and for no other."""

from __future__ import annotations

import json

import pytest
import torch
from by_hand import bits, same_bits
from torch import nn

import symport.torch as st


def normed() -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3)
    )
    with torch.no_grad():
        model(4 * torch.randn(64, 5))  # running statistics
        model[0].weight.mul_(16)
        model[3].weight.mul_(16)
    return model


def perceptron(activation: nn.Module, hidden: int = 8) -> nn.Sequential:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, hidden), activation, nn.Linear(hidden, 3))
    with torch.no_grad():
        model[0].weight.mul_(16)
    return model


X, Y = torch.randn(32, 5, generator=torch.Generator().manual_seed(1)), torch.randn(32, 3)


# --- the mode ------------------------------------------------------------------------------------


def test_groups_of_eval_mode_are_left_alone_in_train_mode() -> None:
    model = normed().eval()
    symmetries = st.find_symmetries(model, X)
    only = [bool(g.mode) for g in symmetries.groups]
    assert {g.mode for g in symmetries.groups} == {"", "eval"}
    statistics = [i for i, g in enumerate(symmetries.groups) if "running" in str(g.slots)]
    assert [i for i, o in enumerate(only) if o] == statistics
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def loss() -> torch.Tensor:
        return nn.functional.mse_loss(model(X), Y)

    expected = loss().item()
    loss().backward()
    moves = (
        lambda: st.Teleporter(symmetries, optimizer, 1).step(),
        lambda: st.balance(model, symmetries=symmetries),
        lambda: st.teleport(model, loss, symmetries=symmetries),
    )
    for move in moves:
        certificate = move()
        for group, restricted in zip(certificate.groups, only, strict=True):
            if restricted:
                assert not group.moved
                assert group.reason == "holds in eval mode only, and 1 is in train mode"
        assert loss().item() == pytest.approx(expected, rel=1e-6)


def test_a_model_with_groups_of_the_other_mode_only_is_refused_bit_for_bit(tmp_path) -> None:
    model = nn.Sequential(*normed()[:2]).eval()
    found = st.find_symmetries(model, X)
    assert [g.mode for g in found.groups] == ["eval"] * len(found.groups) and found.groups
    found.save(tmp_path / "gauge.json")
    loaded = st.Symmetries.load(tmp_path / "gauge.json", model)
    assert loaded.groups == found.groups
    model.train()
    before = bits(model)
    for symmetries in (found, loaded):
        certificate = st.balance(model, symmetries=symmetries)
        assert not certificate.accepted and "in train mode" in certificate.reason
        assert "all data" not in str(certificate)
        with pytest.raises(ValueError, match="holds in eval mode only"):
            symmetries.act(symmetries.random_element(0, 0.5))
        assert same_bits(before, bits(model))
    model.eval()
    y = model(X)
    found.act(found.random_element(0, 0.5))
    torch.testing.assert_close(model(X), y, rtol=1e-4, atol=1e-5)


def test_matrices_across_dropout_hold_in_eval_mode_only() -> None:
    model = perceptron(nn.Dropout(0.5), hidden=3).eval()
    symmetries = st.find_symmetries(model, X)
    assert [(g.name, g.mode) for g in symmetries.groups] == [("GL(3)", "eval")]
    assert "eval mode only" in str(symmetries)
    assert st.balance(model, symmetries=symmetries).accepted
    model.train()
    before = bits(model)
    certificate = st.balance(model, symmetries=symmetries)
    assert not certificate.accepted
    assert "holds in eval mode only, and 1 is in train mode" in certificate.reason
    assert same_bits(before, bits(model))


def test_groups_that_hold_in_both_modes_move_in_both() -> None:
    model = normed()
    symmetries = st.find_symmetries(model, X)
    assert symmetries.groups and not any(g.mode for g in symmetries.groups)
    assert st.balance(model.eval(), symmetries=symmetries).accepted
    frozen = normed()
    frozen[1].eval()  # a usual way to fine-tune: the model trains, its batch norms do not
    symmetries = st.find_symmetries(frozen, X)
    assert any(g.mode for g in symmetries.groups)
    assert all((g.mode == "eval") == ("running" in str(g.slots)) for g in symmetries.groups)
    expected = frozen(X)
    certificate = st.balance(frozen, symmetries=symmetries, powers_of_two=False)
    assert certificate.accepted
    torch.testing.assert_close(frozen(X), expected, rtol=1e-4, atol=1e-4)
    certificate = st.balance(frozen.train(), symmetries=symmetries)
    for group, move in zip(symmetries.groups, certificate.groups, strict=True):
        assert not (move.moved and "running" in str(group.slots))


# --- the model -----------------------------------------------------------------------------------


def test_a_gauge_file_is_proved_for_this_model_or_not_called_proved(tmp_path) -> None:
    path = tmp_path / "gauge.json"
    st.find_symmetries(perceptron(nn.ReLU()), X).save(path)
    assert set(json.loads(path.read_text())["groups"][0]) >= {"kind", "size", "slots"}
    model = perceptron(nn.GELU())
    loaded = st.Symmetries.load(path, model)
    assert loaded.proved_for is None and " none " in str(loaded).splitlines()[1] + " "
    certificate = st.balance(model, symmetries=loaded)
    assert "if the groups of the gauge file are symmetries of this model" in certificate.scope
    assert "(proved" not in str(certificate) and certificate.groups[0].proof is None
    assert "bit-exact     yes: the scaling of the parameters\n" in str(certificate)
    proved = st.Symmetries.load(path, model, X)
    assert not proved.groups and "not confirmed" in proved.refused[0].reason
    model = perceptron(nn.ReLU())
    proved = st.Symmetries.load(path, model, example_inputs=X, optimizer="SGD")
    assert len(proved.groups) == 1 and proved.drift < 1e-10
    certificate = st.balance(model, symmetries=proved)
    assert certificate.accepted and "all data (proved" in certificate.scope


@pytest.mark.parametrize("kind", ["gl", "orthogonal", "permutation", "sign"])
def test_groups_of_every_kind_are_proved_when_loaded(kind, tmp_path) -> None:
    from by_hand import network

    torch.manual_seed(0)
    model, symmetries, _ = network(kind)
    path = tmp_path / "gauge.json"
    symmetries.save(path)
    x = torch.randn(6, 5).double()
    proved = st.Symmetries.load(path, model, x)
    assert [g.slots for g in proved.groups] == [g.slots for g in symmetries.groups]
    model[1] = nn.Softplus()
    kept = len(st.Symmetries.load(path, model, x).groups)
    assert kept == (2 if kind == "permutation" else 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.__setitem__(1, nn.GELU()), r"1: ReLU\(\) -> GELU\(approximate=none\)"),
        (lambda m: m.append(nn.Tanh()), r"3 is new: Tanh\(\)"),
        (lambda m: m.__delitem__(2), "2, Linear.*, is gone"),
        (lambda m: m.__setitem__(2, nn.Linear(8, 4)), r"2: Linear.*3x8.* -> Linear.*4x8"),
    ],
)
def test_a_model_that_has_changed_since_the_search_is_not_moved(change, message) -> None:
    model = perceptron(nn.ReLU())
    symmetries = st.find_symmetries(model, X)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    change(model)
    before = bits(model)
    for move in (
        lambda: st.balance(model, symmetries=symmetries),
        lambda: st.teleport(model, lambda: model(X).square().mean(), symmetries=symmetries),
        lambda: st.Teleporter(symmetries, optimizer, 1).step(),
        lambda: symmetries.act(symmetries.identity()),
    ):
        if "gone" in message or "4x8" in message:
            # The tensors do not fit either, which may be noticed first.
            try:
                assert not move().accepted
            except ValueError as error:
                assert "find_symmetries again" in str(error)
            continue
        with pytest.raises(ValueError, match=message + r".*call find_symmetries again"):
            move()
    assert same_bits(before, bits(model))


def test_settings_of_an_activation_and_ties_are_part_of_the_model() -> None:
    model = perceptron(nn.LeakyReLU(0.1))
    symmetries = st.find_symmetries(model, X)
    model.train(False).requires_grad_(True).to(torch.float64)
    model[1].inplace = True
    symmetries.check_model()
    model[1].negative_slope = 0.2
    with pytest.raises(ValueError, match="negative_slope=0.1.* -> .*negative_slope=0.2"):
        symmetries.check_model()

    class Own(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
            self.activation, self.calls = torch.relu, 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return self.second(self.activation(self.first(x)))

    own = Own()
    symmetries = st.find_symmetries(own, torch.randn(6, 4))
    own(torch.randn(6, 4))
    symmetries.check_model()
    own.activation = torch.tanh
    with pytest.raises(ValueError, match="activation=relu.*activation=tanh"):
        symmetries.check_model()
    own.activation = torch.relu
    own.second.weight = own.first.weight
    with pytest.raises(ValueError, match="tied to first.weight"):
        symmetries.check_model()
