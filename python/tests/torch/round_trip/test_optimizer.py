# SPDX-License-Identifier: MIT
"""RoundTrip is an optimizer like any: groups, schedulers, scalers, states, closures, decay."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import symport.torch as st
from symport.torch import RoundTrip


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 9), nn.Tanh(), nn.Linear(9, 8), nn.Tanh(), nn.Linear(8, 3))


X = torch.randn(30, 6, generator=torch.Generator().manual_seed(1))
Y = X[:, :3].argmax(1)


def loss_of(model: nn.Module) -> torch.Tensor:
    return F.cross_entropy(model(X), Y)


def train(model, optimizer, steps=6, each=lambda: None):
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(model).backward()
        optimizer.step()
        each()
    return [p.detach().clone() for p in model.parameters()]


def same(a, b) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def muon_and_adamw(model):
    matrices = [p for p in model.parameters() if p.dim() == 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    return [torch.optim.Muon(matrices, 0.02), torch.optim.AdamW(rest, 0.01)]


OPTIMIZERS = {
    "sgd": lambda m: torch.optim.SGD(m.parameters(), 0.1),
    "momentum": lambda m: torch.optim.SGD(m.parameters(), 0.05, momentum=0.9, weight_decay=1e-2),
    "nesterov": lambda m: torch.optim.SGD(
        m.parameters(), 0.05, momentum=0.9, nesterov=True, weight_decay=1e-2
    ),
    "adam": lambda m: torch.optim.Adam(m.parameters(), 0.01),
    "adamw": lambda m: torch.optim.AdamW(m.parameters(), 0.01, weight_decay=0.1),
    "rmsprop": lambda m: torch.optim.RMSprop(m.parameters(), 0.01, momentum=0.9),
    "adagrad": lambda m: torch.optim.Adagrad(m.parameters(), 0.1),
    "muon and adamw": muon_and_adamw,
}


class Sign(torch.optim.Optimizer):
    """Unknown to Symport, and it has weight decay of its own."""

    def __init__(self, parameters, lr, weight_decay=0.0):
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    M = self.state[p].setdefault("mean", torch.zeros_like(p)).lerp_(p.grad, 0.1)
                    p.mul_(1 - group["lr"] * group["weight_decay"]).sub_(
                        M.sign(), alpha=group["lr"]
                    )


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("length", ["kept", "metric"])
def test_losses_fall_and_gradients_stay_plain(name, length):
    model = network()
    optimizer = RoundTrip(model, OPTIMIZERS[name](model), length=length)
    start = loss_of(model).item()
    for _ in range(30):
        optimizer.zero_grad()
        loss_of(model).backward()
        before = [p.grad for p in model.parameters()]
        values = [g.clone() for g in before]
        optimizer.step()
        assert all(p.grad is g for p, g in zip(model.parameters(), before, strict=True))
        assert same(values, before)
    assert loss_of(model).item() < 0.8 * start


@pytest.mark.parametrize("name", [*OPTIMIZERS, "unknown"])
def test_without_a_gauge_every_bit_is_as_without_symport(name):
    make = OPTIMIZERS.get(name, lambda m: Sign(m.parameters(), 0.01, 0.1))
    model = network()
    plain = network()
    optimizers = make(plain)
    group = optimizers if isinstance(optimizers, list) else [optimizers]
    for _ in range(4):
        plain.zero_grad()
        loss_of(plain).backward()
        for o in group:
            o.step()
    found = train(model, RoundTrip(model, make(model), power=0.0), 4)
    assert same(found, plain.parameters())


@pytest.mark.parametrize("name", [n for n in OPTIMIZERS if n != "rmsprop"])
def test_with_a_zero_gradient_every_bit_is_as_without_symport(name):
    """Weight decay acts on W itself."""
    plain, model = network(), network()
    made = OPTIMIZERS[name](plain)
    group = made if isinstance(made, list) else [made]
    optimizer = RoundTrip(model, OPTIMIZERS[name](model), power=0.5)
    for _ in range(3):
        for m in (plain, model):
            m.zero_grad()
            (0 * loss_of(m)).backward()
        for o in group:
            o.step()
        optimizer.step()
        assert optimizer.stepped
        assert same(model.parameters(), plain.parameters())


def test_coupled_decay_of_normalised_steps_is_refused():
    model = network()
    optimizer = RoundTrip(model, torch.optim.Adam(model.parameters(), 0.01, weight_decay=0.1))
    loss_of(model).backward()
    before = [p.detach().clone() for p in model.parameters()]
    with pytest.raises(ValueError, match="use decoupled decay, as AdamW does"):
        optimizer.step()
    assert same(before, model.parameters())


@pytest.mark.parametrize("name", [*OPTIMIZERS, "unknown"])
def test_a_resumed_run_has_the_same_bits(name, tmp_path):
    make = OPTIMIZERS.get(name, lambda m: Sign(m.parameters(), 0.01))
    model = network()
    optimizer = RoundTrip(model, make(model), refresh=4)
    train(model, optimizer, 5)
    torch.save([model.state_dict(), optimizer.state_dict()], tmp_path / "checkpoint.pt")
    expected = train(model, optimizer, 7)
    weights, state = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    again = network()
    again.load_state_dict(weights)
    resumed = RoundTrip(again, make(again), refresh=4)
    resumed.load_state_dict(state)
    assert same(train(again, resumed, 7), expected)


def test_the_state_of_a_plain_optimizer_is_refused():
    model = network()
    optimizer = RoundTrip(model, torch.optim.AdamW(model.parameters()))
    with pytest.raises(ValueError, match="without RoundTrip"):
        optimizer.load_state_dict(torch.optim.AdamW(model.parameters()).state_dict())


def test_schedulers_set_the_rates():
    model = network()
    inner = torch.optim.SGD(model.parameters(), 0.1)
    optimizer = RoundTrip(model, inner)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    train(model, optimizer, 4, scheduler.step)
    assert inner.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"] == 0.025


def test_scaled_gradients_are_unscaled_before_the_gauge():
    plain, model = network(), network()
    expected = train(plain, RoundTrip(plain, torch.optim.AdamW(plain.parameters(), 0.01)))
    optimizer = RoundTrip(model, torch.optim.AdamW(model.parameters(), 0.01))
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for _ in range(6):
        optimizer.zero_grad()
        scaler.scale(loss_of(model)).backward()
        scaler.step(optimizer)
        scaler.update()
    assert all(
        torch.allclose(a, b, rtol=1e-4, atol=1e-6)
        for a, b in zip(model.parameters(), expected, strict=True)
    )


def test_a_closure_is_called_once_and_outside_of_the_gauge():
    plain, model = network(), network()
    expected = train(plain, RoundTrip(plain, torch.optim.AdamW(plain.parameters(), 0.01)), 3)
    optimizer = RoundTrip(model, torch.optim.AdamW(model.parameters(), 0.01))
    calls = []

    def closure():
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        calls.append(loss.item())
        return loss

    losses = [optimizer.step(closure).item() for _ in range(3)]
    assert losses == calls and same(model.parameters(), expected)


def test_groups_can_be_added():
    model = network()
    inner = torch.optim.AdamW(model[0].parameters(), 0.01)
    optimizer = RoundTrip(model, inner, power=0.5)
    train(model, optimizer, 2)
    assert optimizer.skipped["2.weight"] == "in none of the optimizers"
    optimizer.add_param_group({"params": model[2].parameters(), "lr": 0.1})
    before = model[2].weight.detach().clone()
    train(model, optimizer, 2)
    assert "2.weight" in optimizer.stepped and not torch.equal(before, model[2].weight)
    several = RoundTrip(model, muon_and_adamw(model))
    with pytest.raises(ValueError, match="the optimizer that shall have the group"):
        several.add_param_group({"params": []})


def test_what_cannot_be_wrapped_is_refused_by_name():
    model = network()
    with pytest.raises(TypeError, match=r"optimizer = RoundTrip\(model, torch.optim.AdamW"):
        RoundTrip(model)
    with pytest.raises(TypeError, match="LBFGS calls its closure several times"):
        RoundTrip(model, torch.optim.LBFGS(model.parameters()))

    class SAM(torch.optim.SGD):
        pass

    class DAdaptAdam(torch.optim.Adam):
        pass

    with pytest.raises(TypeError, match="SAM takes gradients at two points"):
        RoundTrip(model, SAM(model.parameters(), 0.1))
    with pytest.raises(TypeError, match="DAdaptAdam measures its rate"):
        RoundTrip(model, DAdaptAdam(model.parameters()))
    sgd = torch.optim.SGD(model.parameters(), 0.1)
    with pytest.raises(TypeError, match="is a RoundTrip already"):
        RoundTrip(model, RoundTrip(model, sgd))
    with pytest.raises(TypeError, match="expected a torch.optim.Optimizer"):
        RoundTrip(model, model.parameters)
    with pytest.raises(ValueError, match="share a parameter"):
        RoundTrip(model, [sgd, torch.optim.SGD(model.parameters(), 0.1)])
    for options, text in (
        ({"length": "long"}, "expected 'kept' or 'metric'"),
        ({"power": -1}, "power: found -1, expected a number from 0 to 1"),
        ({"power": 5}, "power: found 5, expected a number from 0 to 1"),
        ({"power": (0.5,)}, r"power: found \(0.5,\), expected a number"),
        ({"damping": "much"}, "damping: found 'much', expected a number of at least 0"),
        ({"damping": float("inf")}, "damping: found inf"),
        ({"refresh": 0}, "refresh: found 0, expected a whole number of at least 1"),
        ({"rows": 0.5}, "rows: found 0.5, expected a whole number"),
        ({"exclude": "nosuch"}, "no parameter or module 'nosuch'"),
        ({"exclude": 5}, r"exclude: found int, expected names or patterns, such as \['head'"),
        ({"exclude": [model[0]]}, "exclude: found Linear, expected names"),
        ({"pairs": 5}, "found 5, expected the two names"),
        ({"pairs": [("0.weight", "nosuch")]}, "no parameter 'nosuch'"),
        ({"pairs": ["ab"]}, "expected the two names"),
        ({"pairs": [("0.weight", "4.weight")]}, "not factors of a product"),
    ):
        with pytest.raises((TypeError, ValueError), match=text):
            RoundTrip(model, sgd, **options)


def test_an_optimizer_of_another_model_is_refused():
    model, other = network(), network()
    with pytest.raises(ValueError, match="has no parameter of this model"):
        RoundTrip(model, torch.optim.SGD(other.parameters(), 0.1))
    RoundTrip(model, [torch.optim.SGD(m[2].parameters(), 0.1) for m in (model, other)])


def test_an_unknown_optimizer_keeps_its_state_and_the_table_says_so():
    model = network()
    optimizer = RoundTrip(model, Sign(model.parameters(), 0.01, 0.1), power=0.5)
    start = loss_of(model).item()
    train(model, optimizer, 40)
    assert loss_of(model).item() < 0.8 * start
    assert "Sign: keeps all its state at a refresh: how it moves is not known" in repr(optimizer)


def test_declared_state_moves(monkeypatch):
    from symport.torch import transport

    monkeypatch.setattr(transport, "_STATE", dict(transport._STATE))
    monkeypatch.setattr(transport, "_DECLARED", set())
    st.declare_state(Sign, {"mean": "cotangent"})
    model = network()
    optimizer = RoundTrip(model, Sign(model.parameters(), 0.01))
    assert "Sign: mean moves with the gauge" in repr(optimizer)
    train(model, optimizer)


class ScheduleFreeSGD(torch.optim.Optimizer):
    """Steps a point z, and keeps the weights between it and its average (Defazio, 2024)."""

    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr, "k": 0})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            group["k"] += 1
            for p in group["params"]:
                z = self.state[p].setdefault("z", p.clone())
                c = 1 / group["k"]
                x = (p - 0.1 * z) / 0.9
                z.sub_(p.grad, alpha=group["lr"])
                x.lerp_(z, c)
                p.copy_(0.1 * z + 0.9 * x)

    @torch.no_grad()
    def eval(self):
        for p, state in self.state.items():
            p.copy_((p - 0.1 * state["z"]) / 0.9)

    @torch.no_grad()
    def train(self):
        for p, state in self.state.items():
            p.copy_(0.1 * state["z"] + 0.9 * p)


def test_points_follow_the_gauge():
    model = network()
    optimizer = RoundTrip(model, ScheduleFreeSGD(model.parameters(), 0.3), refresh=3)
    start = loss_of(model).item()
    train(model, optimizer, 40)
    trained = [p.detach().clone() for p in model.parameters()]
    assert loss_of(model).item() < 0.8 * start
    optimizer.eval()
    assert loss_of(model).item() < 0.9 * start and not same(trained, model.parameters())
    optimizer.train()
    for a, b in zip(trained, model.parameters(), strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_prodigy_measures_its_rate_in_moving_gauges():
    prodigy = pytest.importorskip("pytorch_optimizer").Prodigy
    model = network()
    optimizer = RoundTrip(model, prodigy(model.parameters()), power=0.5)
    assert "Prodigy: p0, s, exp_avg moves with the gauge" in repr(optimizer)
    train(model, optimizer, 60)
    assert loss_of(model).item() < 0.1


def test_a_step_that_fails_leaves_everything_as_it_was():
    class Failing(torch.optim.SGD):
        def step(self, closure=None):
            super().step()
            raise RuntimeError("out of luck")

    model = network()
    optimizer = RoundTrip(model, Failing(model[2:].parameters(), 0.1), power=0.5)
    loss_of(model).backward()
    before = [copy.deepcopy(p.detach()) for p in (model[2].weight, model[4].weight)]
    gradients = [p.grad for p in model.parameters()]
    with pytest.raises(RuntimeError, match="out of luck"):
        optimizer.step()
    assert same(before, [model[2].weight, model[4].weight])
    assert all(p.grad is g for p, g in zip(model.parameters(), gradients, strict=True))


def test_it_cannot_be_copied():
    model = network()
    optimizer = RoundTrip(model, torch.optim.SGD(model.parameters(), 0.1))
    with pytest.raises(TypeError, match="state_dict"):
        copy.deepcopy(optimizer)
