# SPDX-License-Identifier: MIT
"""Certificates of teleports; refusals leave every bit."""

from __future__ import annotations

import itertools
import json
import math
import random

import numpy as np
import pytest
import torch
from by_hand import bits, matrices, network, same_bits, train
from torch import nn

import symport.torch.usable as usable
from symport.torch import (
    Certificate,
    Group,
    Slot,
    Symmetries,
    Teleporter,
    balance,
    declare_state,
    teleport,
)

KINDS = ("scale", "gl")
OBJECTIVES = ("balance", "gradient", "flat", "decrease")


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


@pytest.mark.parametrize("batches", [2, 3, 64])
@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize("backward", [False, True])
def test_a_closure_that_draws_the_next_batch_is_refused(batches, in_loop, backward) -> None:
    """The noise of the batches is not the rounding that a change of the loss is measured by."""
    model, symmetries, _ = network("gl", dtype=torch.float32)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.randn(batches, 8, 5), torch.randn(batches, 8, 3)
    loader = itertools.cycle(zip(*data, strict=True))

    def closure():
        x, y = next(loader)
        loss = nn.functional.mse_loss(model(x), y)
        if backward:
            loss.backward()
        return loss

    before = bits(model, optimizer)
    with pytest.raises(ValueError, match=r"not deterministic \(\d.*same data at every call"):
        if in_loop:
            Teleporter(symmetries, optimizer, 1, objective="balance").step(closure)
        else:
            teleport(model, closure, optimizer=optimizer, symmetries=symmetries)
    assert same_bits(before, bits(model, optimizer))


def test_a_closure_that_draws_from_the_known_generators_is_repeated() -> None:
    model, symmetries, _ = network("scale", dtype=torch.float32)
    x, y = torch.randn(64, 5), torch.randn(64, 3)

    def closure():
        rows = torch.randperm(64)[:16].tolist() + [random.randrange(64), np.random.randint(64)]
        return nn.functional.mse_loss(nn.functional.dropout(model(x[rows]), 0.2), y[rows])

    assert teleport(model, closure, symmetries=symmetries).bit_exact


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
    assert "'cotangent' (gradients" in certificate.reason and "KIND" in certificate.reason
    with pytest.raises(ValueError, match="'gradient'; expected 'point' "):
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
    with torch.inference_mode(), pytest.raises(ValueError, match="outside of .*inference_mode"):
        teleport(model, closure, symmetries=symmetries)
    with pytest.raises(ValueError, match="balance: pass symmetries"):
        balance(model)
    for move in (
        lambda: teleport(model, closure, symmetries=symmetries, optimizer="adam"),
        lambda: balance(model, symmetries=symmetries, optimizer="adam"),
        lambda: Teleporter(symmetries, "adam"),
    ):
        with pytest.raises(TypeError, match=r"optimizer: 'adam'; expected .*Adam\(model"):
            move()


def test_arguments_of_another_kind_are_named() -> None:
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for move in (
        lambda: teleport(nn.Linear, closure),
        lambda: teleport(nn.Linear, closure, symmetries=symmetries),
        lambda: balance(nn.Linear, symmetries=symmetries),
        lambda: balance(nn.Linear, torch.randn(2, 5)),
    ):
        with pytest.raises(TypeError, match=r"^model: found type, expected a torch.nn.Module"):
            move()
    for move in (
        lambda: Teleporter(model, optimizer),
        lambda: balance(model, symmetries=model),
        lambda: teleport(model, closure, symmetries=model),
    ):
        with pytest.raises(TypeError, match=r"^symmetries: found Sequential, expected Symmetries"):
            move()


def test_symmetries_of_another_model_are_refused() -> None:
    _, symmetries, _ = network("scale")
    model, _, closure = network("scale", seed=1)
    before = bits(model)
    for move in (
        lambda: teleport(model, closure, symmetries=symmetries),
        lambda: balance(model, symmetries=symmetries),
    ):
        with pytest.raises(ValueError, match="symmetries belong to another model object"):
            move()
    assert same_bits(before, bits(model))
