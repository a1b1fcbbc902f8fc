# SPDX-License-Identifier: MIT
"""Teleports in loops with several optimizers, or with a RoundTrip, against transport by hand."""

from __future__ import annotations

import copy
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from by_hand import bits, network, same_bits, scaling, train
from torch import Tensor, nn

from symport.torch import Symmetries, Teleporter, balance, teleport
from symport.torch.round_trip import RoundTrip

sys.path.insert(0, str(Path(__file__).parent / "round_trip"))
import round_trip_reference as reference  # noqa: E402

WEIGHTS = ("0.weight", "2.weight", "4.weight")


def split(model: nn.Module) -> tuple[list[Tensor], list[Tensor]]:
    matrices = [p for p in model.parameters() if p.dim() == 2]
    return matrices, [p for p in model.parameters() if p.dim() < 2]


def muon_and_adamw(model: nn.Module, decay: float = 0.0) -> list[torch.optim.Optimizer]:
    matrices, rest = split(model)
    muon = torch.optim.Muon(matrices, 0.02, weight_decay=decay, nesterov=False)
    return [muon, torch.optim.AdamW(rest, 0.01, weight_decay=decay)]


def adamw(model: nn.Module) -> list[torch.optim.Optimizer]:
    return [torch.optim.AdamW(model.parameters(), 0.01, weight_decay=0)]


@pytest.fixture(autouse=True)
def exact_muon(monkeypatch):
    """Muon's own iteration runs in bfloat16: rounding would decide the third digit."""

    def factor(M: Tensor, *_: object) -> Tensor:
        U, _, V = torch.linalg.svd(M.double(), full_matrices=False)
        return (U @ V).to(M.dtype)

    monkeypatch.setattr(torch.optim._muon, "_zeropower_via_newtonschulz", factor)


def step_all(optimizers) -> None:
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()


def rho_of(before: dict[str, Tensor], model: nn.Module) -> dict[str, Tensor]:
    """By parameter the factors of its entries, read off the weights."""
    return {n: p.detach() / before[n] for n, p in model.named_parameters()}


def changing(closure, model: nn.Module):
    """A loss that is twice as large away from these weights."""
    start = model[0].weight.detach().clone()
    return lambda: closure() * (1.0 if torch.allclose(start, model[0].weight) else 2.0)


# --- several optimizers -------------------------------------------------------------------------


def test_muon_with_adamw_continues_as_after_transport_by_hand() -> None:
    model, symmetries, closure = network("scale")
    twin, _, twin_closure = network("scale")
    optimizers, twins = muon_and_adamw(model), muon_and_adamw(twin)
    teleporter = Teleporter(symmetries, optimizers, {5, 9})
    for step in range(14):
        loss, other = closure(), twin_closure()
        assert loss.item() == other.item()
        loss.backward()
        other.backward()
        before = {n: p.detach().clone() for n, p in model.named_parameters()}
        certificate = teleporter.step()
        if step == 5:
            assert certificate.accepted and set(certificate.state.values()) == {"exact"}
        assert closure().item() == loss.item()
        for name, rho in rho_of(before, model).items():
            p = twin.get_parameter(name)
            with torch.no_grad():
                p *= rho
                p.grad /= rho
                for optimizer in twins:
                    for key, value in optimizer.state.get(p, {}).items():
                        if key in ("momentum_buffer", "exp_avg"):
                            value /= rho
                        elif key == "exp_avg_sq":
                            value /= rho**2
        step_all(optimizers)
        step_all(twins)
    assert teleporter.certificates[0].accepted
    for a, b in zip(model.parameters(), twin.parameters(), strict=True):
        assert torch.equal(a, b)


def test_a_trial_step_is_the_step_of_all_optimizers_and_leaves_no_trace() -> None:
    model, symmetries, closure = network("scale")
    optimizers = muon_and_adamw(model)
    closure().backward()
    step_all(optimizers)
    teleporter = Teleporter(symmetries, optimizers, 1, objective="decrease", rehearsal=1)
    closure().backward()
    teleporter.step(closure)  # step 0 is not due
    before = [bits(model, o) for o in optimizers]
    certificate = teleporter.step(closure)
    if not certificate.accepted:
        assert all(same_bits(a, bits(model, o)) for a, o in zip(before, optimizers, strict=True))
    step_all(optimizers)
    expected = certificate.next_loss if certificate.accepted else certificate.next_loss_plain
    assert closure().item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("wrapped", [False, True])
def test_balance_moves_the_state_of_all_of_them(wrapped: bool) -> None:
    model, symmetries, closure = network("scale")
    optimizers = muon_and_adamw(model)
    optimizer = RoundTrip(model, optimizers) if wrapped else optimizers
    closure().backward()
    step_all([optimizer] if wrapped else optimizers)
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    bias = optimizers[1].state[model[0].bias]["exp_avg"]
    moment = bias.clone()
    assert balance(model, symmetries=symmetries, optimizer=optimizer).accepted
    torch.testing.assert_close(bias, moment / rho_of(before, model)["0.bias"])
    assert not torch.equal(bias, moment)


def test_a_refused_teleport_leaves_the_state_of_every_optimizer() -> None:
    model, symmetries, closure = network("scale", dtype=torch.float32)
    optimizers = muon_and_adamw(model)
    closure().backward()
    step_all(optimizers)
    before = [bits(model, o) for o in optimizers]
    certificate = teleport(
        model, changing(closure, model), optimizer=optimizers, symmetries=symmetries
    )
    assert not certificate.accepted and "the loss would change" in certificate.reason
    assert all(same_bits(a, bits(model, o)) for a, o in zip(before, optimizers, strict=True))


def test_a_grad_scaler_unscales_the_gradients_of_every_optimizer() -> None:
    model, symmetries, closure = network("scale", dtype=torch.float32)
    optimizers = muon_and_adamw(model)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    teleporter = Teleporter(symmetries, optimizers, {0}, scaler=scaler)
    closure().backward()
    wanted = [p.grad.square().sum() for p in model.parameters()]
    model.zero_grad()
    scaler.scale(closure()).backward()
    certificate = teleporter.step()
    assert certificate.accepted
    assert certificate.grad_sq_before == pytest.approx(float(sum(wanted)), rel=1e-5)
    for optimizer in optimizers:
        scaler.step(optimizer)
    scaler.update()


def test_what_is_no_optimizer_or_list_of_them_is_refused() -> None:
    model, symmetries, _ = network("scale")
    muon, rest = muon_and_adamw(model)
    with pytest.raises(ValueError, match="an empty list"):
        Teleporter(symmetries, [])
    with pytest.raises(TypeError, match="optimizer: 'adamw'"):
        Teleporter(symmetries, [muon, "adamw"])
    whole = torch.optim.AdamW(model.parameters())
    with pytest.raises(ValueError, match="Muon and AdamW share a parameter"):
        Teleporter(symmetries, [muon, whole])
    with pytest.raises(TypeError, match="a RoundTrip in a list"):
        Teleporter(symmetries, [RoundTrip(model, muon), rest])
    with pytest.raises(ValueError, match="cannot be taken back"):
        Teleporter(symmetries, RoundTrip(model, whole), objective="decrease")


# --- weight decay -------------------------------------------------------------------------------


def with_decay_groups(model: nn.Module) -> torch.optim.Optimizer:
    matrices, rest = split(model)
    return torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    )


def test_decay_groups_that_leave_nothing_to_move_are_told_once_with_the_remedy() -> None:
    model, symmetries, closure = network("scale")
    teleporter = Teleporter(symmetries, with_decay_groups(model), "every:1")
    closure().backward()
    with pytest.warns(UserWarning, match="2 of 2 groups .* across_decay=True moves them") as told:
        teleporter.step()
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not teleporter.step().accepted
        moving = Teleporter(symmetries, with_decay_groups(model), {0}, across_decay=True)
        assert moving.step().accepted


def test_decay_that_differs_between_two_optimizers_is_seen() -> None:
    model, symmetries, closure = network("scale")
    matrices, rest = split(model)
    optimizers = [torch.optim.Muon(matrices, weight_decay=0.1), torch.optim.SGD(rest, 0.1)]
    with pytest.warns(UserWarning, match="across_decay=True"):
        certificate = teleport(model, closure, optimizer=optimizers, symmetries=symmetries)
    assert "0.weight and 0.bias have different weight decays" in certificate.reason


# --- round trips --------------------------------------------------------------------------------


class Rule:
    """An optimizer of torch on one array, for the reference of round trips."""

    def __init__(self, make, shape) -> None:
        self.p = nn.Parameter(torch.zeros(shape, dtype=torch.float64))
        self.optimizer = make(self.p)

    def entry(self, *keys: str) -> Tensor | None:
        state = self.optimizer.state.get(self.p, {})
        return next((state[key] for key in keys if key in state), None)

    @property
    def M(self):
        found = self.entry("exp_avg", "momentum_buffer")
        return None if found is None else found.numpy()

    @M.setter
    def M(self, value) -> None:
        self.entry("exp_avg", "momentum_buffer").copy_(torch.from_numpy(value))

    def cut(self) -> None:
        squares = self.entry("exp_avg_sq")
        if squares is not None:
            K = 0.1 / np.sqrt(0.001 * (1 - 0.81 / 0.999))
            self.M = np.clip(self.M, -K * np.sqrt(squares.numpy()), K * np.sqrt(squares.numpy()))

    def step(self, G):
        with torch.no_grad():
            self.p.zero_()
        self.p.grad = torch.from_numpy(np.array(G))
        self.optimizer.step()
        return self.p.detach().numpy().copy()


def rows_of(inputs: Tensor) -> np.ndarray:
    """Rows of zeros are padding."""
    H = inputs.detach().numpy()
    return H[(H != 0).any(1)].copy()


class ByHand:
    """The network of by_hand.network in NumPy, with round trips of its weights and teleports."""

    def __init__(self, model: nn.Module, which: str) -> None:
        self.values = {n: p.detach().numpy().copy() for n, p in model.named_parameters()}
        self.trips, self.plain = {}, {}
        for name, value in self.values.items():
            muon = which == "muon" and value.ndim == 2
            rule = Rule(self.muon if muon else self.adamw, value.shape)
            if name in WEIGHTS[1:]:  # the first layer is given data
                self.trips[name] = reference.RoundTrip(rule, 0.25, kept=True)
            else:
                self.plain[name] = rule

    @staticmethod
    def muon(p: Tensor) -> torch.optim.Optimizer:
        return torch.optim.Muon([p], 0.02, weight_decay=0, nesterov=False)

    @staticmethod
    def adamw(p: Tensor) -> torch.optim.Optimizer:
        return torch.optim.AdamW([p], 0.01, weight_decay=0)

    def teleport(self, rho: dict[str, np.ndarray], gradients: dict[str, np.ndarray]) -> None:
        """Momentum M g comes home as M and moves, and what the gauge was made of is forgotten."""
        for name, factor in rho.items():
            self.values[name] *= factor
            gradients[name] /= factor
            trip = self.trips.get(name)
            rule = self.plain[name] if trip is None else trip.rule
            home = np.eye(rule.M.shape[-1]) if trip is None else np.linalg.inv(trip.g)
            rule.M = (rule.M @ home if rule.M.ndim == 2 else rule.M) / factor
            squares = rule.entry("exp_avg_sq")
            if squares is not None:
                squares /= torch.from_numpy(factor) ** 2
            if trip is not None:
                trip.S = trip.sum = trip.n = 0.0
                trip.t, trip.g = 0, np.eye(self.values[name].shape[1])

    def step(self, gradients: dict[str, np.ndarray], rows: dict[str, np.ndarray]) -> None:
        for name, G in gradients.items():
            trip = self.trips.get(name)
            if trip is None:
                self.values[name] += self.plain[name].step(G)
            elif name in rows:
                self.values[name] = trip.step(self.values[name], G, rows[name])
            else:  # the rows of this step were seen before the teleport
                trip.rule.cut()
                self.values[name] += trip.rule.step(G)
                trip.t += 1


@pytest.mark.parametrize("which", ["adamw", "muon"])
def test_a_round_trip_continues_as_after_transport_by_hand(which: str) -> None:
    model, symmetries, closure = network("scale")
    hand = ByHand(model, which)
    optimizers = adamw(model) if which == "adamw" else muon_and_adamw(model)
    optimizer = RoundTrip(model, optimizers)
    teleporter = Teleporter(symmetries, optimizer, {7, 12})
    rows: dict[str, np.ndarray] = {}
    for name in ("2", "4"):
        model.get_submodule(name).register_forward_hook(
            lambda _, inputs, __, name=name: rows.update({f"{name}.weight": rows_of(inputs[0])})
        )
    moved = 0
    for _ in range(30):
        loss = closure()
        seen = dict(rows)
        loss.backward()
        gradients = {n: p.grad.numpy().copy() for n, p in model.named_parameters()}
        before = {n: p.detach().clone() for n, p in model.named_parameters()}
        certificate = teleporter.step()
        if certificate is not None and certificate.accepted:
            moved += 1
            with torch.no_grad():
                assert closure().item() == loss.item()
            rho = {n: t.numpy() for n, t in rho_of(before, model).items()}
            assert any((r != 1).any() for r in rho.values())
            hand.teleport(rho, gradients)
            seen = {}
        optimizer.step()
        optimizer.zero_grad()
        hand.step(gradients, seen)
        for name, p in model.named_parameters():
            np.testing.assert_allclose(p.detach(), hand.values[name], rtol=1e-7, atol=1e-9)
    assert moved


def test_the_certificate_says_what_a_round_trip_makes_of_squares() -> None:
    model, symmetries, closure = network("scale")
    optimizer = RoundTrip(model, adamw(model))
    train(model, closure, optimizer, 3)
    certificate = teleport(model, closure, optimizer=optimizer, symmetries=symmetries)
    assert certificate.accepted and certificate.drift == 0
    assert certificate.state["exp_avg"] == "exact"
    assert certificate.state["exp_avg_sq"].startswith("approximate: does not follow the gauges")


def test_a_refused_teleport_leaves_the_gauges_and_the_state_in_them() -> None:
    model, symmetries, closure = network("scale")
    optimizer = RoundTrip(model, adamw(model))
    train(model, closure, optimizer, 3)
    before, gauges = bits(model, optimizer.optimizers[0]), copy.deepcopy(optimizer.state_dict())
    certificate = teleport(
        model, changing(closure, model), optimizer=optimizer, symmetries=symmetries
    )
    assert not certificate.accepted and "the loss would change" in certificate.reason
    assert same_bits(before, bits(model, optimizer.optimizers[0]))
    after = optimizer.state_dict()["round_trip"]
    assert after["steps"] == gauges["round_trip"]["steps"]
    for a, b in zip(gauges["round_trip"]["sources"], after["sources"], strict=True):
        assert torch.equal(a["g"], b["g"])


def test_momentum_of_coupled_decay_moves_with_the_weights_it_is_made_of() -> None:
    model, symmetries, closure = network("scale")
    sgd = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, weight_decay=1e-2)
    optimizer = RoundTrip(model, sgd)
    train(model, closure, optimizer, 5)
    buffer = optimizer.state_dict()["round_trip"]["decays"]["2.weight"].clone()
    weight = model[2].weight.detach().clone()
    assert teleport(model, closure, optimizer=optimizer, symmetries=symmetries).accepted
    moved = optimizer.state_dict()["round_trip"]["decays"]["2.weight"]
    torch.testing.assert_close(moved, buffer * (model[2].weight.detach() / weight))


@pytest.mark.parametrize("every", [1, 4])
def test_training_with_both_goes_on_falling(every: int) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
    model.append(nn.Linear(16, 3))
    x, y = torch.randn(64, 6), torch.randint(3, (64,))
    symmetries = Symmetries(model, [scaling("0", "2", 16), scaling("2", "4", 16)])
    optimizer = RoundTrip(model, torch.optim.AdamW(model.parameters(), 0.01))
    teleporter = Teleporter(symmetries, optimizer, every)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        teleporter.step()
        optimizer.step()
        losses.append(loss.item())
    assert any(c.accepted for c in teleporter.certificates)
    assert losses[-1] < 0.5 * losses[0]
