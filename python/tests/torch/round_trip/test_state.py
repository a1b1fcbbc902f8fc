# SPDX-License-Identifier: MIT
"""What becomes of an optimizer's state and of the weights when something unusual happens."""

from __future__ import annotations

import copy

import pytest
import torch
from test_optimizer import X, Y, loss_of, muon_and_adamw, network, same, train
from torch import nn
from torch.nn import functional as F

from symport.torch import RoundTrip


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


def test_an_optimizer_with_momentum_is_wrapped_where_it_stands():
    """What it gathered before moves into the first gauge: the next step is 0.9 M g g."""
    layer = nn.Linear(6, 3, bias=False)
    inner = torch.optim.SGD(layer.parameters(), 0.1, momentum=0.9)
    M = torch.randn(3, 6)
    layer.weight.grad = M.clone()
    inner.step()
    before = layer.weight.detach().clone()
    optimizer = RoundTrip(layer, inner, power=0.5, rows=None)
    layer(X)
    layer.weight.grad = torch.zeros(3, 6)
    optimizer.step()
    (source,) = optimizer._recorder.sources
    expected = -0.1 * 0.9 * M @ source.g[0, 0] @ source.g[0, 0]
    assert torch.allclose(layer.weight - before, expected, atol=1e-6)
    assert not torch.allclose(expected, -0.1 * 0.9 * M, atol=1e-2)


ADAPTIVE = {
    "AdamW": lambda p: torch.optim.AdamW(p, lr=1e-3),
    "amsgrad": lambda p: torch.optim.Adam(p, lr=1e-3, amsgrad=True),
    "NAdam": lambda p: torch.optim.NAdam(p, lr=1e-3),
    "Adamax": lambda p: torch.optim.Adamax(p, lr=1e-3),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=1e-3, centered=True),
}


@pytest.mark.parametrize("name", ADAPTIVE)
def test_an_input_that_comes_alive_does_not_make_an_output_jump(name):
    """Its output had no gradient meanwhile: a moment that moves there at a refresh meets no
    square, and would be divided by eps."""
    model = nn.Sequential(nn.Linear(4, 4, bias=False), nn.ReLU(), nn.Linear(4, 4, bias=False))
    with torch.no_grad():
        model[0].weight.copy_(torch.eye(4))
    optimizer = RoundTrip(model, ADAPTIVE[name](model.parameters()))
    before = model[2].weight.detach().clone()
    x = torch.rand(64, 4) + 0.5
    dead = x.clone()
    dead[:, 3] = 0
    for inputs, row in ((dead, 0), (dead, 0), (dead, 1), (x, 1), (x, 1)):
        optimizer.zero_grad()
        model(inputs)[:, row].sum().backward()
        optimizer.step()
    assert (model[2].weight - before).abs().max() < 0.05


def test_whatever_fails_on_the_way_leaves_no_weight_in_the_gauge(monkeypatch):
    from symport.torch.round_trip import gauge

    times, calls = gauge.times, 0

    def failing(*arguments):
        nonlocal calls
        calls -= 1
        if calls == 0:
            raise KeyboardInterrupt
        return times(*arguments)

    model = network()
    optimizer = RoundTrip(model, torch.optim.AdamW(model.parameters(), 0.1, weight_decay=0.5))
    train(model, optimizer, 3)  # no new gauges at the next step
    layers = [model[2].weight, model[4].weight]  # the first layer is given data
    monkeypatch.setattr(gauge, "times", failing)
    for number in (1, 2, 3, 4):
        optimizer.zero_grad()
        loss_of(model).backward()
        before = [(w.detach().clone(), w.grad.clone()) for w in layers]
        calls = number
        with pytest.raises(KeyboardInterrupt):
            optimizer.step()
        for w, (weight, gradient) in zip(layers, before, strict=True):
            assert torch.equal(w, weight) and torch.equal(w.grad, gradient)


def test_a_gauge_that_cannot_be_reached_moves_no_state(monkeypatch):
    from symport.torch.round_trip import gauge

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(6, 3), nn.Linear(6, 3)

        def forward(self, x):
            return self.a(x) + self.b(x)

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 6), Two())
    optimizer = RoundTrip(model, torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), refresh=3)
    train(model, optimizer, 3)
    state = [s["momentum_buffer"].clone() for s in optimizer.state.values()]
    over, calls = gauge.over, 0

    def failing(*arguments):
        nonlocal calls
        calls += 1
        if calls == 2:  # the second of two layers with one gauge
            raise RuntimeError("out of memory")
        return over(*arguments)

    monkeypatch.setattr(gauge, "over", failing)
    loss_of(model).backward()
    with pytest.raises(RuntimeError, match="out of memory"):
        optimizer.step()
    assert same(state, [s["momentum_buffer"] for s in optimizer.state.values()])


def test_the_state_of_several_optimizers_is_read_without_a_trace():
    model = network()
    inner = muon_and_adamw(model)
    optimizer = RoundTrip(model, inner)
    train(model, optimizer, 2)
    for o in inner:
        for group in o.param_groups:
            assert all(optimizer.state[p] is o.state[p] for p in group["params"])
    assert set(optimizer.state_dict()) == {"optimizers", "round_trip"}


def test_a_state_replaces_all_that_was_gathered_before():
    def make():
        model = network()
        inner = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=0.1)
        return model, RoundTrip(model, inner)

    model, optimizer = make()
    start, weights = copy.deepcopy(optimizer.state_dict()), copy.deepcopy(model.state_dict())
    first = train(model, optimizer)
    model.load_state_dict(weights)
    optimizer.load_state_dict(start)
    again = train(model, optimizer)
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(first, again, strict=True))


def test_the_precision_of_a_model_may_change():
    model = network()
    optimizer = RoundTrip(model, torch.optim.SGD(model.parameters(), 0.1), refresh=2)
    train(model, optimizer, 3)
    X64 = X.double()
    for _ in range(3):
        model.double()
        optimizer.zero_grad()
        F.cross_entropy(model(X64), Y).backward()
        optimizer.step()
    assert all(p.dtype == torch.float64 and p.isfinite().all() for p in model.parameters())
