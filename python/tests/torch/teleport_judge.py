# SPDX-License-Identifier: MIT
"""Random teleports, judged by an evaluation in double precision that shares no code with them.

    PYTHONPATH=python python python/tests/torch/teleport_judge.py COUNT [FIRST SEED]

A teleport that is accepted must keep what its certificate says, on the data of its closure and on
fresh data: with f the loss or the norm of the outputs, at the stored weights before and after,

    |f' - f| <= tolerance |f|,    or 1000 times what rounding the weights at the start does,
                                  or 10 times what a random change of the weights of relative size
                                  `Certificate.rounding` does to them, tensor by tensor,
                                  or, of the loss, what the steepest such change does.

Both random changes are drawn DRAWS times, and their root mean square counts: a single one may leave
the loss alone by chance, where it is at a right angle to the gradient. The certificate speaks of
all changes of that size, so that the last bound is what it says, to first order.

One that is refused must leave every bit. Nothing else may happen: no exception.
"""

from __future__ import annotations

import copy
import random
import sys
from collections import Counter
from dataclasses import dataclass, field

import torch
from by_hand import bits, same_bits
from random_models import random_model
from torch import Tensor, nn

import symport.torch as st

TELEPORTS_PER_MODEL = 8
DRAWS = 8


@dataclass
class Counts:
    accepted: int = 0
    exact: int = 0
    refused: Counter = field(default_factory=Counter)
    raised: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    worst: float = 0.0

    @property
    def total(self) -> int:
        return self.accepted + sum(self.refused.values()) + len(self.raised)

    def __str__(self) -> str:
        lines = [
            f"{self.total} teleports: {self.accepted} accepted ({self.exact} bit-exact),"
            f" {sum(self.refused.values())} refused, {len(self.raised)} raised",
            f"outside of the certificate {len(self.outside)}, refused but changed"
            f" {len(self.changed)}, worst change over what is allowed {self.worst:.2g}",
        ]
        lines += [f"  {count:6d}  {reason}" for reason, count in self.refused.most_common()]
        return "\n".join([*lines, *self.raised[:9], *self.outside[:9], *self.changed[:9]])


def linear_model(options: random.Random) -> tuple[nn.Module, Tensor]:
    """Matrices between all layers: where conditions multiply."""
    widths = [options.randint(1, 8) for _ in range(options.randint(3, 5))]
    bias = options.random() < 0.5
    layers = [nn.Linear(a, b, bias) for a, b in zip(widths[:-1], widths[1:], strict=True)]
    return nn.Sequential(*layers), torch.randn(16, widths[0])


def unbalance(model: nn.Module, options: random.Random) -> None:
    """Weights of any size, and rows of very different ones."""
    spread = options.choice([0.0, 0.5, 3.0])
    with torch.no_grad():
        for p in model.parameters():
            if p.ndim > 1:
                p.mul_(10 ** options.gauss(0, spread / 3))
                p.mul_(torch.exp(spread * torch.randn(p.shape[0], *[1] * (p.ndim - 1))))


def share(model: nn.Module, how: str) -> None:
    """Puts two parameters, or the indices of one, into the same memory."""
    parameters = [p for p in model.parameters() if p.ndim == 2]
    if how == "expand":
        p = parameters[0]
        p.data = p.data[:1].clone().expand(p.shape)
    for i, p in enumerate(parameters):
        for q in parameters[i + 1 :]:
            n, m = p.numel(), q.numel()
            if how == "transposed" and p.shape == q.T.shape:
                q.data = p.data.T
                return
            if how == "same" and p.shape == q.shape:
                q.data = p.data
                return
            if how in ("overlap", "halves"):
                first = n if how == "halves" else n // 2
                base = torch.randn(first + max(n, m), dtype=p.dtype) / 3
                p.data, q.data = base[:n].view(p.shape), base[first : first + m].view(q.shape)
                return


class Data:
    """Numbers of the stored model on some data, in double precision."""

    def __init__(self, x: Tensor, y: Tensor) -> None:
        self.x, self.y = x.double(), y.double()

    def numbers(
        self, model: nn.Module, seed: int | None = None, size: float = 0.0
    ) -> tuple[float, Tensor]:
        """The loss and the outputs. With a seed at changed weights: every entry one unit up or down
        or, with a `size`, every tensor by a random one of that relative norm."""
        with torch.no_grad():
            wide = copy.deepcopy(model)
            if seed is not None:
                generator = torch.Generator().manual_seed(seed)
                for p in wide.parameters():
                    eps = torch.finfo(p.dtype).eps
                    p.data = p.data.double()
                    change = torch.randn(p.shape, generator=generator, dtype=torch.float64)
                    if size:
                        p.data += change * (size * p.data.norm() / change.norm().clamp(min=1e-300))
                    else:
                        p.data *= 1 + eps * change.sign()
            wide = wide.double()
            torch.manual_seed(0)
            outputs = wide(self.x)
            return float(nn.functional.mse_loss(outputs, self.y)), outputs

    def steepest(self, model: nn.Module, size: float) -> float:
        """The most that a change of every tensor by this relative norm does to the loss, to first
        order."""
        wide = copy.deepcopy(model).double()
        torch.manual_seed(0)
        nn.functional.mse_loss(wide(self.x), self.y).backward()
        norms = [
            float(p.detach().norm() * p.grad.norm())
            for p in wide.parameters()
            if p.grad is not None
        ]
        return size * sum(norms)

    def ratio(self, before: nn.Module, after: nn.Module, certificate: st.Certificate) -> float:
        """The change over what is allowed."""
        loss, outputs = self.numbers(before)
        moved_loss, moved = self.numbers(after)
        norm = torch.linalg.vector_norm
        double = next(before.parameters()).dtype == torch.float64
        tolerance = certificate.tolerance or (1e-10 if double else 1e-5)
        noises = [(1000.0, 0.0)] + ([(10.0, certificate.rounding)] if certificate.rounding else [])
        drawn = [
            (factor, [self.numbers(before, seed, size) for seed in range(DRAWS)])
            for factor, size in noises
        ]
        ratios = []
        for change, size, noise in (
            (
                abs(moved_loss - loss),
                abs(loss),
                max(
                    self.steepest(before, certificate.rounding),
                    *(k * _mean([abs(r - loss) for r, _ in draws]) for k, draws in drawn),
                ),
            ),
            (
                float(norm(moved - outputs)),
                float(norm(outputs)),
                max(k * _mean([float(norm(r - outputs)) for _, r in draws]) for k, draws in drawn),
            ),
        ):
            allowed = max(tolerance * size, noise)
            ratios.append(0.0 if change == 0 else change / allowed if allowed else float("inf"))
        return max(r if r == r else float("inf") for r in ratios)


def _mean(changes: list[float]) -> float:
    """The root of the mean square."""
    largest = max(changes)
    if not 0 < largest < float("inf"):
        return largest
    return largest * (sum((c / largest) ** 2 for c in changes) / len(changes)) ** 0.5


def one_model(seed: int, counts: Counts, teleports: int = TELEPORTS_PER_MODEL) -> None:
    options = random.Random(seed)
    torch.manual_seed(seed)
    model, x = linear_model(options) if options.random() < 0.5 else random_model(seed)
    unbalance(model, options)
    dtype = options.choice([torch.float32, torch.float64])
    model.to(dtype)
    x = x.to(dtype)
    sharing = options.choice(["overlap", "transposed", "same", "expand", "halves"])
    when = options.choice([""] * 6 + ["before", "after"])
    if when == "before":
        share(model, sharing)
    torch.manual_seed(0)
    if not bool(torch.isfinite(copy.deepcopy(model)(x)).all()):
        return
    symmetries = st.find_symmetries(model, x)
    if not symmetries.groups:
        return
    if when == "after":
        share(model, sharing)
    start = copy.deepcopy({n: t.detach().clone() for n, t in model.state_dict().items()})
    for number in range(teleports):
        one_teleport(f"{seed}.{number}", model, symmetries, x, options, counts)
        with torch.no_grad():
            for name, tensor in model.state_dict().items():
                if not torch.equal(tensor, start[name]):
                    tensor.copy_(start[name])


def one_teleport(
    label: str,
    model: nn.Module,
    symmetries: st.Symmetries,
    x: Tensor,
    options: random.Random,
    counts: Counts,
) -> None:
    for p in model.parameters():
        p.grad = None
    optimizer = options.choice([torch.optim.SGD, torch.optim.AdamW])(model.parameters(), lr=1e-3)
    torch.manual_seed(0)
    before = copy.deepcopy(model)
    y = torch.randn_like(copy.deepcopy(model)(x).detach())
    scale = options.choice([1.0] * 9 + [1e160 if x.dtype == torch.float64 else 1e30])

    def closure() -> Tensor:
        torch.manual_seed(0)
        return nn.functional.mse_loss(model(x), y) * scale

    closure().backward()
    with torch.no_grad():
        for buffer, value in zip(model.buffers(), before.buffers(), strict=True):
            buffer.copy_(value)  # running statistics
    objective = options.choice(["balance", "gradient", "gradient", "flat", "alternate", "decrease"])
    chosen = {"objective": objective, "kappa": 2.0 ** options.randint(1, options.choice([6, 40]))}
    chosen["powers_of_two"] = options.random() < 0.5
    judged = options.random() < 0.5 or objective == "decrease"
    old = bits(model, optimizer)
    try:
        if judged and options.random() < 0.5:
            certificate = st.teleport(
                model, closure, optimizer=optimizer, symmetries=symmetries, **chosen
            )
        else:
            teleporter = st.Teleporter(symmetries, optimizer, 1, **chosen)
            certificate = teleporter.step(closure if judged else None)
    except Exception as error:
        counts.raised.append(f"{label} {chosen}: {type(error).__name__}: {error}")
        return
    label = f"{label} {chosen} closure {judged} {x.dtype}"
    if not certificate.accepted:
        counts.refused[_kind(certificate.reason)] += 1
        if not same_bits(old, bits(model, optimizer)):
            counts.changed.append(label)
        return
    counts.accepted += 1
    counts.exact += certificate.bit_exact
    fresh = torch.randn(x.shape, generator=torch.Generator().manual_seed(1)).to(x.dtype)
    worst = 0.0
    for data in (Data(x, y), Data(fresh, y), Data(10 * fresh, y)):
        worst = max(worst, data.ratio(before, model, certificate))
    counts.worst = max(counts.worst, worst)
    if not worst <= 1:
        counts.outside.append(f"{label}: {worst:.2g} times; {certificate.scope}")


def _kind(reason: str) -> str:
    """The reason without names and numbers."""
    for kind in (
        "nothing to do",
        "nothing to move",
        "rounding would change",
        "share memory",
        "are one entry in memory",
        "the loss would change",
        "would overflow",
        "overflows",
        "infinity or NaN",
        "cannot be inverted",
        "the loss is",
        "no candidate",
        "the next step would end",
    ):
        if kind in reason:
            return kind
    return reason


def judge(count: int, seed: int = 0) -> Counts:
    counts = Counts()
    while counts.total < count:
        one_model(seed, counts)
        seed += 1
    return counts


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(judge(*map(int, sys.argv[1:])))
