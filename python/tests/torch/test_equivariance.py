# SPDX-License-Identifier: MIT
"""Which optimizer feels which group: (teleport, then k steps with the state moved) against
(k steps, then teleport). Where they agree, a teleport cannot help or harm."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from by_hand import matrices, network, permutation, train
from torch import nn

from symport.torch import Symmetries
from symport.torch.movables import Movables

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05),
    "sgd, decay": lambda p: torch.optim.SGD(p, lr=0.05, weight_decay=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9),
    "momentum, foreach": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, foreach=True),
    "momentum, fused": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, fused=True),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, nesterov=True),
    "lbfgs": lambda p: torch.optim.LBFGS(p, lr=0.1, max_iter=2),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1),
    "adamw, foreach": lambda p: torch.optim.AdamW(p, lr=0.01, foreach=True),
    "adamw, fused": lambda p: torch.optim.AdamW(p, lr=0.01, fused=True),
    "adamw, amsgrad": lambda p: torch.optim.AdamW(p, lr=0.01, amsgrad=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "nadam": lambda p: torch.optim.NAdam(p, lr=0.01),
    "radam": lambda p: torch.optim.RAdam(p, lr=0.01),
    "adamax": lambda p: torch.optim.Adamax(p, lr=0.01),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.05),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.005),
    "rmsprop, momentum": lambda p: torch.optim.RMSprop(p, lr=0.005, momentum=0.9, centered=True),
    "adadelta": lambda p: torch.optim.Adadelta(p, lr=1.0),
    "rprop": lambda p: torch.optim.Rprop(p, lr=0.01),
    "asgd": lambda p: torch.optim.ASGD(p, lr=0.05, t0=1),
}

#: Steps that are linear in the gradient, with inner products: isometries have no effect.
ISOTROPIC = (
    "sgd",
    "sgd, decay",
    "momentum",
    "momentum, foreach",
    "momentum, fused",
    "nesterov",
    "lbfgs",
    "asgd",
)
#: Steps by entries: signs and permutations have no effect.
EXACT = {name: {"permutation", "sign"} for name in OPTIMIZERS}
for _name in ISOTROPIC:
    EXACT[_name] |= {"orthogonal"}
# Rprop's step sizes are tangent vectors of their own: it does not feel a scaling.
EXACT["rprop"] |= {"scale"}

KINDS = ("permutation", "sign", "orthogonal", "scale", "gl")


def difference(name: str, kind: str, *, with_state: bool = True, k: int = 4) -> float:
    """The largest difference of a parameter between the two orders, over the distance that the k
    steps have gone."""
    ends = []
    for teleport_first in (True, False):
        model, symmetries, closure = network(kind)
        optimizer = OPTIMIZERS[name](model.parameters())
        train(model, closure, optimizer, 5)
        movables = Movables(symmetries, optimizer if with_state else None)
        movables.check()
        element = list(symmetries.random_element(seed=3, size=0.5))
        if teleport_first:
            movables.move(element)
        start = [p.detach().clone() for p in model.parameters()]
        train(model, closure, optimizer, k)
        gone = max(
            float((p.detach() - s).abs().max())
            for p, s in zip(model.parameters(), start, strict=True)
        )
        if not teleport_first:
            movables.check()
            movables.move(element)
        ends.append([p.detach().clone() for p in model.parameters()])
    assert gone > 1e-4
    return max(float((a - b).abs().max()) for a, b in zip(*ends, strict=True)) / gone


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_teleport_and_steps_commute_exactly_where_theory_says_so(name: str, kind: str) -> None:
    error = difference(name, kind)
    if kind in EXACT[name]:
        assert error < 1e-11, f"{name} should not feel {kind}: {error:.1e}"
    else:
        assert error > 1e-3, f"{name} should feel {kind}: {error:.1e}"


def test_sign_flips_commute_bit_for_bit() -> None:
    for name in ("sgd", "momentum", "adamw", "adagrad", "rmsprop, momentum"):
        assert difference(name, "sign") == 0.0, name


@pytest.mark.parametrize("name", ["momentum", "adamw", "adagrad", "rmsprop", "lbfgs"])
def test_without_its_state_moved_an_optimizer_feels_even_a_permutation(name: str) -> None:
    assert difference(name, "permutation", with_state=False) > 1e-2


@pytest.mark.parametrize(
    ("kind", "felt"), [("orthogonal", False), ("permutation", False), ("gl", True)]
)
def test_muon_feels_matrices_but_not_rotations(kind: str, felt: bool) -> None:
    """Muon rounds to bfloat16 on its way: two digits, where the gradients have full rank."""
    ends = []
    for teleport_first in (True, False):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 4, bias=False), nn.Linear(4, 8, bias=False)).double()
        x, y = torch.randn(64, 8).double(), torch.randn(64, 8).double()
        group = permutation if kind == "permutation" else partial(matrices, kind=kind)
        symmetries = Symmetries(model, [group("0", "1", 4, bias=False)])
        optimizer = torch.optim.Muon(model.parameters(), lr=0.02, weight_decay=0.0)
        movables = Movables(symmetries, optimizer)
        element = symmetries.random_element(seed=3, size=0.5)
        loss = partial(lambda m, x, y: nn.functional.mse_loss(m(x), y), model, x, y)
        train(model, loss, optimizer, 2)
        movables.check()
        if teleport_first:
            movables.move(element)
        train(model, loss, optimizer, 2)
        if not teleport_first:
            movables.move(element)
        ends.append([p.detach().clone() for p in model.parameters()])
    error = max(float((a - b).abs().max()) for a, b in zip(*ends, strict=True)) / 0.04
    assert error > 0.2 if felt else error < 0.05


def test_a_scaling_under_adam_is_a_learning_rate_for_every_entry() -> None:
    """With eps -> 0 and no decay, teleported Adam is Adam with the rate of w_i over |rho_i|."""
    model, symmetries, closure = network("scale", seed=1)
    reference, _, reference_closure = network("scale", seed=1)
    s = [2.0 ** torch.randint(-2, 3, (g.size,)).double() for g in symmetries.groups]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, eps=1e-300)
    twin = torch.optim.Adam(reference.parameters(), lr=0.01, eps=1e-300)
    train(model, closure, optimizer, 2)
    train(reference, reference_closure, twin, 2)
    movables = Movables(symmetries, optimizer)
    movables.check()
    movables.move(s)
    rho = {n: torch.ones_like(p) for n, p in model.named_parameters()}
    symmetries.transport(s, rho, "tangent")
    for _ in range(5):
        train(model, closure, optimizer, 1)
        before = [p.detach().clone() for p in reference.parameters()]
        train(reference, reference_closure, twin, 1)
        with torch.no_grad():
            for (n, p), b in zip(reference.named_parameters(), before, strict=True):
                p.copy_(b + (p - b) / rho[n])
    for (n, p), q in zip(model.named_parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(p / rho[n], q, rtol=1e-9, atol=1e-11)


#: The state of the others depends on more than the gradients.
OF_GRADIENTS = [
    name for name in OPTIMIZERS if name not in ("lbfgs", "asgd", "sgd, decay", "adadelta", "rprop")
]


@pytest.mark.parametrize("name", OF_GRADIENTS)
def test_moved_state_is_the_state_of_moved_gradients(name: str) -> None:
    """Feed one optimizer gradients and another the moved ones: the states differ by the transport,
    bit for bit under powers of two."""
    model, symmetries, _ = network("scale")
    other, moved_symmetries, _ = network("scale")
    element = [2.0 ** torch.randint(-3, 4, (g.size,)).double() for g in symmetries.groups]
    moved_symmetries.act(element)
    pair = []
    for m in (model, other):
        optimizer = OPTIMIZERS[name](m.parameters())
        for group in optimizer.param_groups:
            group["lr"], group["weight_decay"] = 0.0, 0.0
            if "eps" in group:
                group["eps"] = 0.0
        pair.append(optimizer)
    generator = torch.Generator().manual_seed(0)
    for _ in range(3):
        gradients = {
            n: torch.randn(p.shape, generator=generator, dtype=p.dtype)
            for n, p in model.named_parameters()
        }
        for n, p in model.named_parameters():
            p.grad = gradients[n].clone()
        symmetries.transport(element, gradients, "cotangent")
        for n, p in other.named_parameters():
            p.grad = gradients[n].clone()
        for optimizer in pair:
            optimizer.step()
    movables = Movables(symmetries, pair[0])
    movables.check()
    movables.move(element)
    for p, q in zip(model.parameters(), other.parameters(), strict=True):
        for key, value in pair[0].state[p].items():
            if isinstance(value, torch.Tensor):
                assert torch.equal(value, pair[1].state[q][key]), key
