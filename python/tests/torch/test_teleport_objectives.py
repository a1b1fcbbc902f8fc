# SPDX-License-Identifier: MIT
"""The objectives of a teleport against independent mathematics."""

from __future__ import annotations

import itertools

import pytest
import torch
from by_hand import bits, matrices, network, same_bits, scaling, train
from torch import nn

from symport.torch import Group, Slot, Symmetries, balance, teleport

KINDS = ("scale", "gl")


def squared_norm(model: nn.Module) -> float:
    return sum(float(p.detach().square().sum()) for p in model.parameters())


def gradient_norm(model: nn.Module, closure) -> float:
    gradients = torch.autograd.grad(closure(), list(model.parameters()))
    return sum(float(g.square().sum()) for g in gradients)


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


@pytest.mark.parametrize("widths", [(20, 8, 3), (3, 8, 20), (9, 5, 4, 8)])
def test_pairs_without_a_smallest_norm_stay(widths) -> None:
    """Directions that one side lacks could shrink for ever on the other."""
    torch.manual_seed(0)
    layers = [nn.Linear(a, b, bias=False) for a, b in itertools.pairwise(widths)]
    model = nn.Sequential(*layers)
    groups = [matrices(str(i), str(i + 1), n, bias=False) for i, n in enumerate(widths[1:-1])]
    before = bits(model)
    certificate = balance(model, symmetries=Symmetries(model, groups))
    ranks = {8: "rank 3 of 8", 5: "rank 4 of 5"}[widths[1]]
    assert f"{ranks} in" in certificate.groups[0].reason
    assert "there is no smallest norm" in certificate.groups[0].reason
    assert [g.moved for g in certificate.groups] == [False, True][: len(groups)]  # 5-4-8 has one
    assert same_bits(before, bits(model)) == (len(groups) == 1)


def test_dependent_rows_of_float_weights_are_noticed_in_spite_of_their_rounding() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 8, bias=False), nn.Linear(8, 9, bias=False))
    with torch.no_grad():
        model[0].weight.copy_(torch.randn(8, 7) @ torch.randn(7, 20))
    certificate = balance(model, symmetries=Symmetries(model, [matrices("0", "1", 8, bias=False)]))
    assert not certificate.accepted and "rank 7 of 8 in 0.weight" in certificate.reason


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_balanced_model_keeps_every_bit(kind: str, dtype: torch.dtype) -> None:
    model, symmetries, _ = network(kind, dtype=dtype)
    assert balance(model, symmetries=symmetries, powers_of_two=False).accepted
    before = bits(model)
    certificate = balance(model, symmetries=symmetries, powers_of_two=False)
    assert same_bits(before, bits(model))
    assert not certificate.accepted and certificate.bit_exact
    assert certificate.reason == "nothing to do: already there"
    text = str(certificate)
    assert text.startswith("teleport (balance): nothing to do: already there")
    assert "bit-exact     yes: nothing was moved" in text and "refused" not in text


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
    verdict = (
        f"has loss {certificate.next_loss:.6g} after 4 steps, without a teleport "
        f"{certificate.next_loss_plain:.6g}"
    )
    assert "the candidate '" in certificate.reason and certificate.reason.endswith(verdict)
    train(model, closure, optimizer, 4)
    expected = certificate.next_loss if certificate.accepted else certificate.next_loss_plain
    assert closure().item() == pytest.approx(expected, rel=1e-12)
