# SPDX-License-Identifier: MIT
"""Small models whose symmetries are written down by hand, in double precision."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from symport.torch import Group, Slot, Symmetries


def scaling(producer: str, consumer: str, n: int, *, bias: bool = True) -> Group:
    """Channels of `producer`, through an activation, into the columns of `consumer`."""
    slots = [Slot(f"{producer}.weight", 0, 0, n, 1, 1.0)]
    if bias:
        slots.append(Slot(f"{producer}.bias", 0, 0, n, 1, 1.0))
    slots.append(Slot(f"{consumer}.weight", 1, 0, n, 1, -1.0))
    return Group("scale", n, tuple(slots), where=f"{producer} -> {consumer}")


def matrices(producer: str, consumer: str, n: int, *, bias: bool = True, kind: str = "gl") -> Group:
    """The hidden space between two linear layers."""
    slots = [Slot(f"{producer}.weight", 0, 0, n, 1, "g")]
    if bias:
        slots.append(Slot(f"{producer}.bias", 0, 0, n, 1, "g"))
    slots.append(Slot(f"{consumer}.weight", 1, 0, n, 1, "g^-T"))
    return Group(kind, n, tuple(slots), where=f"{producer} -> {consumer}")


def permutation(producer: str, consumer: str, n: int, *, bias: bool = True) -> Group:
    slots = [Slot(f"{producer}.weight", 0, 0, n, 1, "g")]
    if bias:
        slots.append(Slot(f"{producer}.bias", 0, 0, n, 1, "g"))
    slots.append(Slot(f"{consumer}.weight", 1, 0, n, 1, "g"))
    return Group("permutation", n, tuple(slots), where=f"{producer} -> {consumer}")


def signs(producer: str, consumer: str, n: int, *, bias: bool = True) -> Group:
    group = scaling(producer, consumer, n, bias=bias)
    return Group("sign", n, group.slots, where=group.where)


def network(
    kind: str, *, bias: bool = True, dtype: torch.dtype = torch.float64, seed: int = 0
) -> tuple[nn.Module, Symmetries, Callable[[], Tensor]]:
    """5-7-6-3 with two groups of the given kind, and the loss of a fixed batch; for GL 5-3-3-3,
    whose groups have a smallest norm."""
    torch.manual_seed(seed)
    n, m = (3, 3) if kind == "gl" else (7, 6)
    layers = (("0", "2", n), ("2", "4", m))
    activation = {"scale": nn.ReLU, "gl": nn.Identity, "orthogonal": nn.Identity}.get(kind, nn.Tanh)
    model = nn.Sequential(
        nn.Linear(5, n, bias=bias),
        activation(),
        nn.Linear(n, m, bias=bias),
        activation(),
        nn.Linear(m, 3, bias=bias),
    ).to(dtype)
    with torch.no_grad():  # far from balanced, and no bias is zero
        model[0].weight.mul_(3)
        for p in model.parameters():
            p.add_(0.05 * torch.randn_like(p))
    make = {"scale": scaling, "sign": signs, "permutation": permutation}.get(kind)
    if make is None:
        groups = [matrices(a, b, n, bias=bias, kind=kind) for a, b, n in layers]
    else:
        groups = [make(a, b, n, bias=bias) for a, b, n in layers]
    x = torch.randn(40, 5, dtype=torch.float64).to(dtype)
    y = torch.randn(40, 3, dtype=torch.float64).to(dtype)

    def closure() -> Tensor:
        return nn.functional.mse_loss(model(x), y)

    return model, Symmetries(model, groups), closure


def train(model: nn.Module, closure: Callable[[], Tensor], optimizer, steps: int) -> None:
    def with_gradient() -> Tensor:
        optimizer.zero_grad()
        loss = closure()
        loss.backward()
        return loss

    for _ in range(steps):
        if isinstance(optimizer, torch.optim.LBFGS):
            optimizer.step(with_gradient)
        else:
            with_gradient()
            optimizer.step()
    optimizer.zero_grad()


def bits(model: nn.Module, optimizer=None) -> list[Tensor]:
    """A copy of everything that a refusal must leave as it was."""
    found = [t.detach().clone() for t in model.state_dict().values()]
    found += [p.grad.clone() for p in model.parameters() if p.grad is not None]
    if optimizer is not None:
        for state in optimizer.state_dict()["state"].values():
            for value in state.values():
                found += [
                    v.clone()
                    for v in (value if isinstance(value, list) else [value])
                    if isinstance(v, Tensor)
                ]
    return found + [torch.get_rng_state()]


def same_bits(a: list[Tensor], b: list[Tensor]) -> bool:
    """Bit by bit, so that NaN is equal to itself."""
    return len(a) == len(b) and all(
        x.shape == y.shape and torch.equal(_bytes(x), _bytes(y)) for x, y in zip(a, b, strict=True)
    )


def _bytes(tensor: Tensor) -> Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)
