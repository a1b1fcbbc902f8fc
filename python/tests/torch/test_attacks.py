# SPDX-License-Identifier: MIT
"""Certificates under attack: bad conditions, shared memory, values that leave the graph, state that
is declared wrongly. Every refusal keeps every bit."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from by_hand import bits, same_bits
from torch import nn

import symport.torch as st

X = torch.randn(64, 8, generator=torch.Generator().manual_seed(1))
Y = torch.randn(64, 1, generator=torch.Generator().manual_seed(2))


def loss_of(model: nn.Module, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return nn.functional.mse_loss(model(X.to(dtype)), Y.to(dtype))


def linear_network(dtype: torch.dtype = torch.float32) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 5), nn.Linear(5, 1)).to(dtype)


# --- conditions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kappa", [2.0**k for k in (1, 2, 3, 4, 5, 7, 10, 20, 40)])
def test_without_a_closure_rounding_is_bounded_or_refused(kappa: float, dtype: torch.dtype) -> None:
    model = linear_network(dtype)
    symmetries = st.find_symmetries(model, X[:8].to(dtype))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_of(model, dtype).backward()
    before = copy.deepcopy(model).double()
    start = bits(model, optimizer)
    teleporter = st.Teleporter(symmetries, optimizer, 1, objective="gradient", kappa=kappa)
    certificate = teleporter.step()
    if not certificate.accepted:
        assert "rounding would change the weights" in certificate.reason or (
            "decomposition" in certificate.reason
        )
        assert same_bits(start, bits(model, optimizer))
        assert kappa > 4
        return
    tolerance = 1e-5 if dtype == torch.float32 else 1e-10
    assert 0 < certificate.rounding <= certificate.tolerance == tolerance
    old = loss_of(before, torch.float64).item()
    new = loss_of(copy.deepcopy(model).double(), torch.float64).item()
    assert abs(new - old) <= 10 * tolerance * old


def test_a_loss_whose_squared_gradient_overflows_is_refused() -> None:
    model = linear_network(torch.float64)
    symmetries = st.find_symmetries(model, X[:8].double())
    certificate = st.teleport(
        model,
        lambda: loss_of(model, torch.float64) * 1e160,
        symmetries=symmetries,
        objective="gradient",
    )
    assert not certificate.accepted and "overflow" in certificate.reason


def test_a_decomposition_that_fails_is_a_refusal() -> None:
    model = linear_network()
    symmetries = st.find_symmetries(model, X[:8])
    start = bits(model, None)
    certificate = st.teleport(
        model, lambda: loss_of(model), symmetries=symmetries, objective="gradient", kappa=2.0**40
    )
    assert not certificate.accepted
    assert same_bits(start, bits(model, None))


# --- memory --------------------------------------------------------------------------------------


def shared(kind: str) -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8, bias=False), nn.ReLU(), nn.Linear(8, 8, bias=False))
    with torch.no_grad():
        model[0].weight.mul_(16)
    w = model[0].weight.detach()
    if kind == "the same memory":
        model[2].weight = nn.Parameter(w)
    elif kind == "a transpose":
        model[2].weight = nn.Parameter(w.T)
    elif kind == "overlapping views":
        flat = torch.randn(100)
        model[0].weight = nn.Parameter(flat[:64].view(8, 8))
        model[2].weight = nn.Parameter(flat[36:].view(8, 8))
    elif kind == "an expanded row":
        model[2].weight = nn.Parameter(torch.randn(1, 8).expand(8, 8))
    elif kind == "side by side":
        flat = torch.randn(128)
        model[0].weight = nn.Parameter(flat[:64].view(8, 8) * 16)
        model[2].weight = nn.Parameter(flat[64:].view(8, 8))
    return model


@pytest.mark.parametrize(
    "kind", ["the same memory", "a transpose", "overlapping views", "an expanded row"]
)
def test_parameters_that_share_memory_are_refused(kind: str) -> None:
    model = shared("side by side")
    groups = st.find_symmetries(model, X[:8]).groups
    model = shared(kind)
    start = bits(model, None)
    certificate = st.balance(model, symmetries=st.Symmetries(model, groups))
    assert not certificate.accepted
    assert "share memory" in certificate.reason or "more than once" in certificate.reason
    assert same_bits(start, bits(model, None))


@pytest.mark.parametrize("objective", ["decrease", "alternate"])
def test_steps_on_trial_are_refused_where_a_parameter_cannot_be_stepped(objective: str) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 1))
    symmetries = st.find_symmetries(model, X[:8])
    groups = [g for g in symmetries.groups if "4.weight" not in {s.tensor for s in g.slots}]
    model[4].weight.data = model[4].weight.data[:, :1].clone().expand(1, 6)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_of(model).backward()
    start = bits(model, optimizer)
    certificate = st.teleport(
        model,
        lambda: loss_of(model),
        optimizer=optimizer,
        symmetries=st.Symmetries(model, groups),
        objective=objective,
    )
    assert not certificate.accepted and "4.weight holds some of its" in certificate.reason
    assert same_bits(start, bits(model, optimizer))


def test_parameters_side_by_side_in_one_storage_move() -> None:
    model = shared("side by side")
    outputs = model(X)
    assert st.balance(model, symmetries=st.find_symmetries(model, X[:8])).accepted
    assert torch.equal(outputs, model(X))


# --- values that leave the graph -----------------------------------------------------------------


class Leaving(nn.Module):
    def __init__(self, how: str) -> None:
        super().__init__()
        self.first, self.last, self.how = nn.Linear(8, 6), nn.Linear(6, 3), how

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.first(x)
        if self.how == "branch":
            h = torch.relu(h) if x.abs().max() < 1e3 else torch.tanh(h)
        elif self.how == "item":
            h = torch.relu(h) * (2.0 if h.abs().max().item() < 1e9 else 3.0)
        elif self.how == "numpy":
            h = torch.relu(h) * float((h.detach().numpy() < 1e9).mean())
        elif self.how == "asarray":
            h = torch.relu(h) * float((np.asarray(h.detach()) < 1e9).mean())
        elif self.how == "tolist":
            h = torch.relu(h) * float(max(x.flatten().tolist()) < 1e9)
        elif self.how == "allclose":
            h = torch.relu(h) if torch.allclose(x, x + 1) else torch.relu(2 * h)
        elif self.how == "nonzero":
            h = torch.relu(h) * (1.0 if len(x.nonzero()) > 3 else 2.0)
        elif self.how == "mask":
            h = torch.relu(h) * (1.0 if x[x > 0].shape[0] > 3 else 2.0)
        elif self.how == "unique":
            h = torch.relu(h) * (1.0 if len(torch.unique(x)) > 3 else 2.0)
        elif self.how == "constant":
            h = torch.relu(h) * torch.arange(1, 3).max().item() * torch.tensor([2.0]).item()
        else:
            h = torch.relu(h)
        return self.last(h)


LEAVING = ["branch", "item", "numpy", "asarray", "tolist", "allclose", "nonzero", "mask", "unique"]


@pytest.mark.parametrize("how", LEAVING)
def test_values_that_leave_the_graph_limit_the_scope(how: str) -> None:
    torch.manual_seed(0)
    model = Leaving(how)
    symmetries = st.find_symmetries(model, X[:8])
    assert "recorded branch" in str(symmetries)
    certificate = st.balance(model, symmetries=symmetries)
    assert not certificate.accepted or "recorded branch" in certificate.scope
    assert "all data" not in certificate.scope


@pytest.mark.parametrize("how", ["constant", "nothing"])
def test_literals_and_shapes_do_not(how: str) -> None:
    torch.manual_seed(0)
    model = Leaving(how)
    certificate = st.balance(model, symmetries=st.find_symmetries(model, X[:8]))
    assert certificate.accepted and certificate.scope.startswith("all data (proved")


def test_groups_of_a_file_are_not_proved_through_operations_without_a_rule(tmp_path) -> None:
    torch.manual_seed(0)
    relu = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 3))
    st.find_symmetries(relu, X[:8]).save(tmp_path / "gauge.json")
    shrink = nn.Sequential(nn.Linear(8, 6), nn.Hardshrink(1e-9), nn.Linear(6, 3))
    loaded = st.Symmetries.load(tmp_path / "gauge.json", shrink, X[:8])
    assert loaded.groups == [] and "no rule for hardshrink" in loaded.refused[0].reason


# --- state ---------------------------------------------------------------------------------------


class Averaging(torch.optim.Optimizer):
    """Keeps a point z, as schedule-free optimizers do, and a tensor of another shape."""

    def __init__(self, parameters, lr: float) -> None:
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                z = self.state[p].setdefault("z", p.detach().clone())
                self.state[p].setdefault("sums", torch.zeros(2))
                z.sub_(p.grad, alpha=group["lr"])
                p.lerp_(z, 0.5)


def test_a_refusal_of_unknown_state_proposes_no_kind(monkeypatch) -> None:
    from symport.torch import transport

    monkeypatch.setattr(transport, "_STATE", dict(transport._STATE))
    model = shared("side by side")
    symmetries = st.find_symmetries(model, X[:8])
    optimizer = Averaging(model.parameters(), 0.1)

    def loss() -> torch.Tensor:
        return model(X).square().mean()

    loss().backward()
    optimizer.step()
    reason = st.teleport(model, loss, optimizer=optimizer, symmetries=symmetries).reason
    assert "{'z': KIND}" in reason and "'point' (weights" in reason
    with pytest.raises(TypeError, match="expected the optimizer's class"):
        st.declare_state(optimizer, {"z": "point"})
    st.declare_state(Averaging, {"z": "point", "sums": "cotangent"})
    reason = st.teleport(model, loss, optimizer=optimizer, symmetries=symmetries).reason
    assert "'sums'" in reason and "shape" in reason
    st.declare_state(Averaging, {"z": "point", "sums": "scalar"})
    assert st.teleport(model, loss, optimizer=optimizer, symmetries=symmetries).accepted
    for state in optimizer.state.values():
        state["z"].mul_(100)
    with pytest.warns(UserWarning, match="far from the weights"):
        st.balance(model, optimizer=optimizer, symmetries=symmetries)
    st.declare_state(Averaging, {"z": "cotangent", "sums": "scalar"})
    for parameter, state in optimizer.state.items():
        state["z"].copy_(parameter)
    with pytest.warns(UserWarning, match="close to the weights; is it a point"):
        st.balance(model, optimizer=optimizer, symmetries=symmetries)
