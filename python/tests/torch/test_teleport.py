# SPDX-License-Identifier: MIT
"""Objectives against independent mathematics; certificates; refusals leave every bit."""

from __future__ import annotations

import itertools
import json
import math

import pytest
import torch
from by_hand import bits, matrices, network, same_bits, scaling, train
from torch import nn

import symport.torch.usable as usable
from symport.torch import Certificate, Group, Slot, Symmetries, balance, declare_state, teleport

KINDS = ("scale", "gl")
OBJECTIVES = ("balance", "gradient", "flat", "decrease")


def squared_norm(model: nn.Module) -> float:
    return sum(float(p.detach().square().sum()) for p in model.parameters())


def gradient_norm(model: nn.Module, closure) -> float:
    gradients = torch.autograd.grad(closure(), list(model.parameters()))
    return sum(float(g.square().sum()) for g in gradients)


# --- objectives ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_balance_is_the_smallest_norm_on_the_orbit(kind: str) -> None:
    model, symmetries, closure = network(kind)
    before = squared_norm(model)
    certificate = teleport(model, closure, symmetries=symmetries, powers_of_two=False)
    assert certificate.accepted
    assert certificate.squared_norm_before == pytest.approx(before, rel=1e-12)
    best = squared_norm(model)
    assert certificate.squared_norm_after == pytest.approx(best, rel=1e-12)
    assert best < 0.9 * before
    for seed in range(20):  # the norm is convex along the orbit: no neighbour is smaller
        element = symmetries.random_element(seed, 0.05)
        symmetries.act(element)
        assert squared_norm(model) > best * (1 - 1e-6)
        symmetries.act(symmetries.inverse(element))


def test_balance_with_powers_of_two_has_no_better_neighbour() -> None:
    model, symmetries, closure = network("scale")
    reference = closure().item()
    certificate = balance(model, symmetries=symmetries)
    assert certificate.accepted and certificate.bit_exact
    assert closure().item() == reference
    best = squared_norm(model)
    for i, group in enumerate(symmetries.groups):
        for unit, factor in itertools.product(range(group.size), (0.5, 2.0)):
            element = symmetries.identity()
            element[i][unit] = factor
            symmetries.act(element)
            assert squared_norm(model) >= best
            symmetries.act(symmetries.inverse(element))


def test_balance_of_a_squared_relu_uses_its_charges() -> None:
    """w1 -> s w1, w2 -> s^-2 w2: s^6 = 2 n2 / n1."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3, bias=False), nn.Linear(3, 2, bias=False)).double()
    slots = (Slot("0.weight", 0, 0, 3, 1, 1.0), Slot("1.weight", 1, 0, 3, 1, -2.0))
    n1 = model[0].weight.detach().square().sum(1)
    n2 = model[1].weight.detach().square().sum(0)
    first = model[0].weight.detach().clone()
    balance(model, symmetries=Symmetries(model, [Group("scale", 3, slots)]), powers_of_two=False)
    s = (2 * n2 / n1) ** (1 / 6)
    torch.testing.assert_close(model[0].weight.detach(), s[:, None] * first, rtol=1e-12, atol=0)


def test_balance_with_three_charges_is_stationary() -> None:
    torch.manual_seed(0)
    model = nn.ParameterDict({n: torch.randn(5, 4) for n in "abc"}).double()
    slots = tuple(Slot(n, 0, 0, 5, 1, c) for n, c in (("a", 1.0), ("b", 2.0), ("c", -1.0)))
    balance(model, symmetries=Symmetries(model, [Group("scale", 5, slots)]), powers_of_two=False)
    n = {k: p.detach().square().sum(1) for k, p in model.items()}
    torch.testing.assert_close(n["a"] + 2 * n["b"], n["c"], rtol=1e-10, atol=0)


def test_gradient_takes_the_best_end_of_every_interval() -> None:
    """All 2^4 choices of s in {1/2, 2} by brute force."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()
    symmetries = Symmetries(model, [scaling("0", "2", 4)])
    x, y = torch.randn(20, 3).double(), torch.randn(20, 2).double()

    def closure():
        return nn.functional.mse_loss(model(x), y)

    best = 0.0
    for choice in itertools.product((0.5, 2.0), repeat=4):
        element = [torch.tensor(choice, dtype=torch.float64)]
        symmetries.act(element)
        best = max(best, gradient_norm(model, closure))
        symmetries.act(symmetries.inverse(element))
    certificate = teleport(model, closure, symmetries=symmetries, objective="gradient")
    assert certificate.bit_exact
    assert gradient_norm(model, closure) == pytest.approx(best, rel=1e-12)
    assert certificate.grad_sq_after == pytest.approx(best, rel=1e-12)


def test_gradient_of_a_pair_is_the_largest_within_kappa() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 4, bias=False), nn.Linear(4, 6, bias=False)).double()
    symmetries = Symmetries(model, [matrices("0", "1", 4, bias=False)])
    x, y = torch.randn(20, 5).double(), torch.randn(20, 6).double()

    def closure():
        return nn.functional.mse_loss(model(x), y)

    others = []
    for seed in range(200):
        generator = torch.Generator().manual_seed(seed)
        u, _ = torch.linalg.qr(torch.randn(4, 4, dtype=torch.float64, generator=generator))
        stretch = 2.0 ** (2 * torch.randint(0, 2, (4,), generator=generator).double() - 1)
        element = [u * stretch @ u.T]
        symmetries.act(element)
        others.append(gradient_norm(model, closure))
        symmetries.act(symmetries.inverse(element))
    certificate = teleport(model, closure, symmetries=symmetries, objective="gradient")
    assert certificate.condition <= 4 * (1 + 1e-9)
    assert gradient_norm(model, closure) > max(others)


@pytest.mark.parametrize("kind", KINDS)
def test_flat_is_the_smallest_gradient_on_the_orbit(kind: str) -> None:
    model, symmetries, closure = network(kind)
    certificate = teleport(
        model, closure, symmetries=symmetries, objective="flat", powers_of_two=False
    )
    best = gradient_norm(model, closure)
    assert certificate.accepted and certificate.grad_sq_after == pytest.approx(best, rel=1e-8)
    for seed in range(20):
        element = symmetries.random_element(seed, 0.05)
        symmetries.act(element)
        assert gradient_norm(model, closure) > best * (1 - 1e-4)
        symmetries.act(symmetries.inverse(element))


@pytest.mark.parametrize("turn", [0, 1, 2])
def test_alternate_leaves_one_layer_free_and_makes_the_others_white(turn: int) -> None:
    torch.manual_seed(0)
    widths = (9, 5, 4, 8)
    layers = [nn.Linear(a, b, bias=False) for a, b in itertools.pairwise(widths)]
    model = nn.Sequential(*layers).double()
    groups = [matrices("1", "2", 4, bias=False), matrices("0", "1", 5, bias=False)]
    x, y = torch.randn(30, 9).double(), torch.randn(30, 8).double()
    certificate = teleport(
        model,
        lambda: nn.functional.mse_loss(model(x), y),
        symmetries=Symmetries(model, groups),
        objective="alternate",
        turn=turn,
    )
    assert certificate.accepted and certificate.drift < 1e-12
    w = [layer.weight.detach() for layer in layers]
    for k in set(range(3)) - {turn}:
        gram = w[k] @ w[k].T if k < turn else w[k].T @ w[k]
        if len(gram) <= min(w[k].shape):  # the middle layer maps five dimensions to four
            white = gram[0, 0] * torch.eye(len(gram)).double()
            torch.testing.assert_close(gram, white, rtol=1e-8, atol=1e-8)
        else:
            values = torch.linalg.eigvalsh(gram)[-min(w[k].shape) :]
            torch.testing.assert_close(values, values[-1].expand_as(values), rtol=1e-8, atol=0)


def test_decrease_is_judged_by_the_optimizers_real_next_step() -> None:
    for make in (
        lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
        lambda p: torch.optim.AdamW(p, lr=0.003, weight_decay=0.1),
    ):
        model, symmetries, closure = network("scale")
        optimizer = make(model.parameters())
        train(model, closure, optimizer, 3)
        certificate = teleport(
            model, closure, optimizer=optimizer, symmetries=symmetries, objective="decrease"
        )
        assert certificate.accepted
        assert certificate.next_loss < certificate.next_loss_plain
        train(model, closure, optimizer, 1)
        assert closure().item() == pytest.approx(certificate.next_loss, rel=1e-12)


def test_decrease_rehearses_as_many_steps_as_asked() -> None:
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    train(model, closure, optimizer, 3)
    certificate = teleport(
        model,
        closure,
        optimizer=optimizer,
        symmetries=symmetries,
        objective="decrease",
        rehearsal=4,
    )
    train(model, closure, optimizer, 4)
    expected = certificate.next_loss if certificate.accepted else certificate.next_loss_plain
    assert closure().item() == pytest.approx(expected, rel=1e-12)


# --- certificates and refusals ------------------------------------------------------------------


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_loss_is_kept_and_the_certificate_says_how_well(objective, kind, dtype) -> None:
    model, symmetries, closure = network(kind, dtype=dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    train(model, closure, optimizer, 3)
    loss = closure().item()
    certificate = teleport(
        model, closure, optimizer=optimizer, symmetries=symmetries, objective=objective
    )
    assert certificate.loss_before == loss
    assert certificate.accepted, str(certificate)
    after = closure().item()
    assert certificate.loss_after == after
    assert certificate.drift == abs(after - loss) / abs(loss)
    assert certificate.drift <= (1e-12 if dtype == torch.float64 else 2e-6)
    assert certificate.bit_exact == (kind == "scale")
    assert certificate.residual < (1e-12 if dtype == torch.float64 else 1e-4)
    assert certificate.state["exp_avg"] == "exact"
    assert certificate.state["exp_avg_sq"].startswith("exact" if kind == "scale" else "approx")
    text = json.loads(certificate.to_json())
    assert Certificate.from_dict(text) == certificate
    assert "accepted" in str(certificate)


def test_gradients_and_buffers_move_along_without_a_second_backward() -> None:
    model, symmetries, closure = network("gl")
    closure().backward()
    assert balance(model, symmetries=symmetries).accepted
    moved = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    closure().backward()
    for a, p in zip(moved, model.parameters(), strict=True):
        torch.testing.assert_close(a, p.grad, rtol=1e-9, atol=1e-11)


def test_batch_norm_statistics_move_with_the_weights_before_them() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 2, 3))
    model(torch.randn(8, 2, 8, 8))
    model.eval()
    x = torch.randn(2, 2, 8, 8)
    y = model(x)
    one = Group(
        "scale",
        4,
        (
            Slot("0.weight", 0, 0, 4, 1, 1.0),
            Slot("0.bias", 0, 0, 4, 1, 1.0),
            Slot("1.running_mean", 0, 0, 4, 1, 1.0),
            Slot("1.running_var", 0, 0, 4, 1, 2.0, shift=model[1].eps),
        ),
    )
    two = Group(
        "scale",
        4,
        (
            Slot("1.weight", 0, 0, 4, 1, 1.0),
            Slot("1.bias", 0, 0, 4, 1, 1.0),
            Slot("3.weight", 1, 0, 4, 1, -1.0),
        ),
    )
    symmetries = Symmetries(model, [one, two])
    certificate = balance(model, symmetries=symmetries)
    assert [g.moved for g in certificate.groups] == [False, True]
    assert torch.equal(model(x), y)
    symmetries.act([torch.full((4,), 4.0).double(), torch.ones(4).double()])
    torch.testing.assert_close(model(x), y)


@pytest.mark.parametrize(
    "name", ["SGD", "AdamW", "Adagrad", "RMSprop", "Adamax", "Rprop", "Adadelta", "LBFGS"]
)
def test_a_refusal_leaves_every_bit(name: str) -> None:
    """The tolerance is 0 and the element no power of two: the loss changes by rounding."""
    for kind, objective in (("scale", "balance"), ("gl", "balance"), ("gl", "alternate")):
        model, symmetries, closure = network(kind, dtype=torch.float32)
        with torch.no_grad():  # a loss far from 0, so that the floor of rounding plays no part
            model[4].weight.mul_(30)
        options = {"max_iter": 2} if name == "LBFGS" else {}
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=1e-4, **options)
        train(model, closure, optimizer, 2)
        closure().backward()
        before = bits(model, optimizer)
        certificate = teleport(
            model,
            closure,
            optimizer=optimizer,
            symmetries=wrong(symmetries),
            objective=objective,
            powers_of_two=False,
        )
        assert not certificate.accepted and "refused" in str(certificate)
        assert not any(g.moved for g in certificate.groups)
        assert same_bits(before, bits(model, optimizer)), (name, kind, objective)


def wrong(symmetries: Symmetries) -> Symmetries:
    """Leaves out the biases: no symmetry, which the Noether residual may or may not notice."""
    groups = [
        Group(g.kind, g.size, tuple(s for s in g.slots if "bias" not in s.tensor), where=g.where)
        for g in symmetries.groups
    ]
    return Symmetries(symmetries.model, groups)


def test_a_false_symmetry_is_noticed_by_its_noether_residual() -> None:
    model, symmetries, closure = network("scale")
    model[1] = nn.GELU()
    before = bits(model)
    certificate = teleport(model, closure, symmetries=symmetries)
    assert "not a symmetry of this loss" in certificate.groups[0].reason
    assert not certificate.groups[0].moved and certificate.groups[1].moved
    model, symmetries, closure = network("scale")

    def penalised():
        return closure() + 0.1 * sum(p.square().sum() for p in model.parameters())

    before = bits(model)
    certificate = teleport(model, penalised, symmetries=symmetries)
    assert not certificate.accepted and "penalty" in certificate.reason
    assert same_bits(before, bits(model))


def test_a_false_symmetry_that_gets_past_the_residual_is_noticed_by_the_drift(monkeypatch) -> None:
    model, symmetries, closure = network("gl", dtype=torch.float64)
    before = bits(model)
    false = wrong(symmetries)
    monkeypatch.setitem(usable.RESIDUAL_LIMITS, torch.float64, math.inf)
    certificate = teleport(model, closure, symmetries=false)
    assert not certificate.accepted and "loss would change" in certificate.reason
    assert certificate.drift > 1e-3
    assert same_bits(before, bits(model))


def test_an_exception_in_the_closure_leaves_every_bit() -> None:
    model, symmetries, closure = network("scale")
    calls = []

    def fails_later():
        calls.append(0)
        if len(calls) > 1:
            raise RuntimeError("out of memory")
        return closure()

    before = bits(model)
    with pytest.raises(RuntimeError, match="out of memory"):
        teleport(model, fails_later, symmetries=symmetries)
    assert same_bits(before, bits(model))


def test_near_a_minimum_the_change_is_judged_by_rounding() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3, bias=False), nn.Linear(3, 4, bias=False)).double()
    target = (model[1].weight @ model[0].weight).detach() + 1e-13
    symmetries = Symmetries(model, [matrices("0", "1", 3, bias=False)])

    def closure():
        return (model[1].weight @ model[0].weight - target).square().sum()

    with torch.no_grad():
        model[0].weight.mul_(4)
        model[1].weight.div_(4)
    certificate = teleport(model, closure, symmetries=symmetries)
    assert certificate.accepted and certificate.at_rounding_level
    assert certificate.drift > certificate.tolerance


def test_an_unknown_optimizer_is_refused_until_its_state_is_declared() -> None:
    class Lion(torch.optim.Optimizer):
        def __init__(self, parameters, lr):
            super().__init__(parameters, {"lr": lr})

        @torch.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    average = self.state[p].setdefault("average", torch.zeros_like(p))
                    average.mul_(0.9).add_(p.grad, alpha=0.1)
                    p.sub_(group["lr"] * average.sign())

    model, symmetries, closure = network("scale")
    optimizer = Lion(model.parameters(), 1e-3)
    train(model, closure, optimizer, 2)
    before = bits(model, optimizer)
    certificate = teleport(model, closure, optimizer=optimizer, symmetries=symmetries)
    assert not certificate.accepted and "declare_state(Lion" in certificate.reason
    assert same_bits(before, bits(model, optimizer))
    with pytest.raises(ValueError, match="'gradient'; expected one of point"):
        declare_state(Lion, {"average": "gradient"})
    declare_state(Lion, {"average": "cotangent"})
    certificate = teleport(model, closure, optimizer=optimizer, symmetries=symmetries)
    assert certificate.accepted and certificate.state == {"average": "exact"}


def test_adafactor_is_refused_with_a_reason() -> None:
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.Adafactor(model.parameters())
    train(model, closure, optimizer, 2)
    certificate = teleport(model, closure, optimizer=optimizer, symmetries=symmetries)
    assert not certificate.accepted and "Adafactor keeps" in certificate.reason


def test_bad_arguments_say_what_is_wrong() -> None:
    model, symmetries, closure = network("scale")
    for arguments, message in (
        ({"objective": "best"}, "objective: 'best'; expected one of balance"),
        ({"kappa": 1.0}, "kappa: 1.0; expected a number > 1"),
        ({"kappa": 3.0}, "kappa: 3.0 is not a power of two"),
        ({"rehearsal": 0}, "rehearsal: 0"),
        ({"tolerance": -1.0}, "tolerance: -1.0"),
        ({"scale": 0.0}, "scale: 0.0"),
        ({"process_group": "mine"}, "process_group: 'mine'"),
        ({"objective": "decrease"}, "pass optimizer="),
    ):
        with pytest.raises(ValueError, match=message):
            teleport(model, closure, symmetries=symmetries, **arguments)
    with pytest.raises(TypeError, match="closure: expected a function"):
        teleport(model, closure(), symmetries=symmetries)
    with pytest.raises(ValueError, match="closure: returned NoneType"):
        teleport(model, lambda: None, symmetries=symmetries)
    with pytest.raises(ValueError, match=r"closure: returned a tensor of shape \(3,\)"):
        teleport(model, lambda: torch.ones(3), symmetries=symmetries)
    with pytest.raises(ValueError, match="has no gradient"):
        teleport(model, lambda: closure().detach(), symmetries=symmetries)
    with pytest.raises(ValueError, match="balance: pass symmetries"):
        balance(model)
