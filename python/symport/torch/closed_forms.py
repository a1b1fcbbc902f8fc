# SPDX-License-Identifier: MIT
"""Destinations with a closed form: group elements from Gram matrices of parameters or gradients.

Shapes: the slot of a group of size n is a matrix P of n rows (`slot_matrix`). With S = g'g and
A = sum P P' over the slots with rho = g, C = the same over those with rho = g^-T, the squared norm
of the moved tensors is tr(S A) + tr(S^-1 C); for scalings it is sum_c s^2c n_c, unit by unit, n_c
being the squared row norms of the slots with charge c.

    balance     the smallest |w|^2: S = A # C^-1, the geometric mean   (scalings: one root a unit)
    flat        the smallest |dL/dw|^2: the same on gradients, which move by rho^-T
    gradient    the largest |dL/dw|^2 with singular values of g in [1/kappa, kappa]:
                S = kappa^2 Pi + kappa^-2 (1 - Pi), Pi the positive eigenspace of C - A of gradients
    alternate   one side of each pair white: A' = c^2 I, or C' = c^2 I; in turn

Chains (several groups on the axes of one tensor) are solved group by group, in sweeps. Statistics
are taken on the device of the tensors; decisions are made in double precision on the CPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from .action import compose, move_group, slot_matrix
from .slots import Slot
from .squares import SquareTables, squares_of
from .symmetries import Group


class Work:
    """Copies of the tensors that groups touch, moved as the sweeps go on.

    Where only scalings act, tables of squares take their place. state: how the tensors move.
    """

    def __init__(self, groups: Sequence[Group], tensors: Mapping[str, Tensor], state: str) -> None:
        self.state = state
        self.tables = SquareTables(groups, tensors)
        self.copies: dict[str, Tensor] = {}
        self._dtypes = {name: t.dtype for name, t in tensors.items()}
        dense = {s.tensor for g in groups if g.kind != "scale" for s in g.slots}
        for name in {s.tensor for g in groups for s in g.slots}:
            if name in tensors and name not in self.tables:
                t = tensors[name].detach()
                wide = torch.float64 if name in dense and t.device.type == "cpu" else torch.float32
                self.copies[name] = t.to(torch.promote_types(t.dtype, wide), copy=True)

    def rounding(self, group: Group) -> float:
        """Of the group's Gram matrices, relative: by their own precision, and by that of the
        tensors, whose errors enter as squares."""
        names = [n for n in group.tensors if n in self.copies]
        own = max(torch.finfo(self.copies[n].dtype).eps for n in names)
        return max(own, *(torch.finfo(self._dtypes[n]).eps ** 2 for n in names))

    def norms(self, group: Group) -> dict[float, Tensor]:
        """Squared norms of the units of a scaling, by charge."""
        norms: dict[float, Tensor] = {}
        for slot in group.slots:
            if slot.tensor in self.tables:
                n = self.tables.norms(slot)
            elif slot.tensor in self.copies:
                rows = slot_matrix(self.copies[slot.tensor], slot)
                n = torch.linalg.vector_norm(rows, dim=1, dtype=torch.float64).square().cpu()
            else:
                continue
            c = float(slot.rho)
            norms[c] = norms[c] + n if c in norms else n
        return norms

    def grams(self, batch: Sequence[Group]) -> tuple[Tensor, Tensor]:
        """sum P P' over the slots with rho = g, and over those with rho = g^-T."""
        sides: dict[str, list[Tensor]] = {"g": [], "g^-T": []}
        for group in batch:
            for rho, stack in sides.items():
                total = None
                for slot in group.slots:
                    if slot.rho == rho and slot.tensor in self.copies:
                        p = slot_matrix(self.copies[slot.tensor], slot)
                        gram = p @ p.mT
                        total = gram if total is None else total + gram
                if total is None:
                    total = torch.zeros(group.size, group.size, dtype=torch.float64)
                stack.append(total)
        produced, consumed = (torch.stack(s).to("cpu", torch.float64) for s in sides.values())
        return produced, consumed

    def move(self, group: Group, element: Tensor) -> None:
        move_group(self.copies, group, element, self.state)
        if group.kind == "scale":
            sign = -2.0 if self.state == "cotangent" else 2.0
            for slot in group.slots:
                if slot.tensor in self.tables:
                    self.tables.scale(slot, element ** (sign * float(slot.rho)))

    def total(self) -> float:
        return squares_of(self.copies) + self.tables.total()


#: What a solver says of a group: its element, or why there is none.
Answer = Tensor | str
Solver = Callable[[Sequence[Group], Work], list[Answer]]

#: Chains converge linearly: this many sweeps at most, as long as the sum of squares falls by this.
MAX_SWEEPS = 100
PROGRESS = 1e-9

ISOMETRY = "isometries do not change a norm"


@dataclass
class Destination:
    """An element for every group, None where it is left alone, with the reason."""

    elements: list[Tensor | None]
    reasons: list[str]
    #: alternate, by chain: the tensors that no white gauge has fixed, and for every group the power
    #: of c that multiplies its element when all white tensors are to be c times orthonormal.
    free: list[set[str]] = field(default_factory=list)
    powers: list[dict[int, int]] = field(default_factory=list)


def balance(
    groups: Sequence[Group],
    tensors: Mapping[str, Tensor],
    *,
    powers_of_two: bool,
    sweeps: int = MAX_SWEEPS,
    floor: float = 0.0,
) -> Destination:
    """The smallest sum of squares of `tensors` on the orbit."""
    return _smallest(groups, Work(groups, tensors, "point"), 1.0, powers_of_two, sweeps, floor)


def flat(
    groups: Sequence[Group],
    gradients: Mapping[str, Tensor],
    *,
    powers_of_two: bool,
    sweeps: int = MAX_SWEEPS,
    floor: float = 0.0,
) -> Destination:
    """The smallest gradient: balance with the roles of the sides exchanged."""
    work = Work(groups, gradients, "cotangent")
    return _smallest(groups, work, -1.0, powers_of_two, sweeps, floor)


def _smallest(
    groups: Sequence[Group],
    work: Work,
    sign: float,
    powers_of_two: bool,
    sweeps: int,
    floor: float,
) -> Destination:
    """The smallest sum of squares; `sign` is -1 where producers transform like consumers."""

    def solve(batch: Sequence[Group], work: Work) -> list[Answer]:
        if batch[0].kind == "scale":
            return [_smallest_scale(work.norms(g), sign, powers_of_two) for g in batch]
        produced, consumed = work.grams(batch)
        if sign < 0:
            return _geometric_means(consumed, produced, floor)
        answers = _geometric_means(produced, consumed, floor)
        for i, (g, a, c) in enumerate(zip(batch, produced, consumed, strict=True)):
            if not isinstance(answers[i], str):
                if id(g) not in unbounded:  # ranks stay along the orbit
                    unbounded[id(g)] = _no_minimum(g, a, c, work.rounding(g))
                answers[i] = unbounded[id(g)] or answers[i]
        return answers

    unbounded: dict[int, str] = {}
    return _sweep(groups, work, solve, sweeps)


def gradient(
    groups: Sequence[Group], gradients: Mapping[str, Tensor], *, kappa: float
) -> Destination:
    """The largest gradient among elements with singular values in [1/kappa, kappa]."""

    def solve(batch: Sequence[Group], work: Work) -> list[Answer]:
        if batch[0].kind == "scale":
            return [_steepest_scale(work.norms(g), kappa) for g in batch]
        produced, consumed = work.grams(batch)
        values, vectors = torch.linalg.eigh(consumed - produced)
        stretch = torch.where(values > 0, kappa, 1.0 / kappa).to(values)
        return list(vectors * stretch.unsqueeze(-2) @ vectors.mT)

    return _sweep(groups, Work(groups, gradients, "cotangent"), solve, 1)


def alternate(
    groups: Sequence[Group], tensors: Mapping[str, Tensor], *, turn: int, floor: float
) -> Destination:
    """White gauges of the pairs, `turn` choosing the tensor that stays free.

    In a chain of m groups (a linear network of m + 1 layers) the groups before the free layer are
    white on their rho = g side, those after it on the other; the free layer holds the whole
    spectrum of the product, and its inputs and outputs are orthonormal. Elements have c = 1.
    """
    work = Work(groups, tensors, "point")
    elements: list[Tensor | None] = [None] * len(groups)
    reasons = ["alternating gauges are for pairs of matrices (GL)"] * len(groups)
    free, powers = [], []
    for chain in _chains(groups):
        position = turn % (len(chain) + 1)
        order = [(i, 1) for i in chain[:position]] + [(i, -1) for i in reversed(chain[position:])]
        fixed: set[str] = set()
        for i, side in order:
            produced, consumed = work.grams([groups[i]])
            answer = _whiten((produced if side > 0 else consumed)[0], side, floor)
            if isinstance(answer, str):
                reasons[i] = answer
                continue
            elements[i], reasons[i] = answer, ""
            work.move(groups[i], answer)
            wanted = "g" if side > 0 else "g^-T"
            fixed |= {s.tensor for s in groups[i].slots if s.rho == wanted}
        touched = {s.tensor for i in chain for s in groups[i].slots}
        free.append(touched - fixed)
        # W_2' = g_2 W_2 g_1^-1: the second group from an end has c^2, so that W_2' has c.
        power: dict[int, int] = {}
        for i, side in order:
            if elements[i] is not None:
                power[i] = side * (1 + sum(side * k > 0 for k in power.values()))
        powers.append(power)
    return Destination(elements, reasons, free, powers)


def scale_alternate(destination: Destination, scales: Sequence[float]) -> Destination:
    """The same gauges with the white sides multiplied so that a step of rate eta on the free
    tensors of a chain moves the product as one of rate eta * scale: c = scale^(1/2m), m groups."""
    elements = list(destination.elements)
    for scale, powers in zip(scales, destination.powers, strict=True):
        for i, power in powers.items():
            elements[i] = elements[i] * scale ** (0.5 * power / len(powers))
    return Destination(elements, destination.reasons, destination.free, destination.powers)


def kept_scales(
    destination: Destination, groups: Sequence[Group], tensors: Mapping[str, Tensor]
) -> list[float]:
    """Scales with which the free tensors are as large as the white ones on average."""
    work = Work(groups, tensors, "point")
    for group, element in zip(groups, destination.elements, strict=True):
        if element is not None:
            work.move(group, element)
    scales = []
    for free, powers in zip(destination.free, destination.powers, strict=True):
        if not powers:
            scales.append(1.0)
            continue
        size = sum(groups[i].size for i in powers) / len(powers)
        squares = squares_of({n: work.copies[n] for n in free})
        m = len(powers)
        scales.append((squares / size) ** (m / (m + 1)) if squares > 0 else 1.0)
    return scales


# --- one group ------------------------------------------------------------------------------------


def _smallest_scale(
    norms: Mapping[float, Tensor], sign: float, powers_of_two: bool
) -> Tensor | str:
    """s > 0 with the smallest sum_c s^(2 c sign) n_c: convex in log s."""
    charges = torch.tensor([sign * c for c in norms], dtype=torch.float64).unsqueeze(1)
    n = torch.stack(list(norms.values()))
    up = (n * (charges > 0)).sum(0)
    down = (n * (charges < 0)).sum(0)
    decided = (up > 0) & (down > 0) & torch.isfinite(up) & torch.isfinite(down)
    if not bool(decided.any()):
        return "only one side of the pair has non-zero entries: there is no smallest norm"
    n = torch.where(decided, n, torch.ones_like(n))
    # The root of sum_c c n_c s^2c: exact for two charges, a start for Newton's method otherwise.
    up, down = ((n * (side * charges > 0)).sum(0) for side in (1, -1))
    pull, push = ((n * (side * charges).clamp_min(0)).sum(0) for side in (1, -1))
    t = (push / pull).log() / (2 * (pull / up + push / down))
    if len(norms) > 2:
        for _ in range(60):
            terms = n * torch.exp(2 * charges * t)
            slope = (2 * charges * terms).sum(0)
            curvature = (4 * charges.square() * terms).sum(0)
            step = (slope / curvature).clamp(-1, 1)
            t = t - step
            if float(step.abs().max()) < 1e-14:
                break
    if powers_of_two:
        low = torch.floor(t / _LOG2)
        f = [(n * torch.exp(2 * charges * k * _LOG2)).sum(0) for k in (low, low + 1)]
        exponent = torch.where(f[1] < f[0], low + 1, low)
        # Staying is never worse than a tie.
        stay = n.sum(0) <= torch.minimum(f[0], f[1])
        return torch.exp2(torch.where(decided & ~stay, exponent, 0.0))
    gains = (n * torch.exp(2 * charges * t)).sum(0) < (1 - PROGRESS) * n.sum(0)
    return torch.where(decided & gains, t.exp(), 1.0)


_LOG2 = 0.6931471805599453


def _steepest_scale(norms: Mapping[float, Tensor], kappa: float) -> Tensor:
    """sum_c s^-2c n_c is convex in log s: its maximum on [1/kappa, kappa] is at an end."""
    ends = [sum(n * e ** (-2 * c) for c, n in norms.items()) for e in (kappa, 1.0, 1.0 / kappa)]
    best = torch.where(ends[0] >= ends[2], kappa, 1.0 / kappa).to(torch.float64)
    return torch.where(torch.maximum(ends[0], ends[2]) > ends[1], best, 1.0)


def _geometric_means(produced: Tensor, consumed: Tensor, floor: float) -> list[Answer]:
    """g = S^1/2 with S A S = C for every pair of a stack: S = A^-1/2 (A^1/2 C A^1/2)^1/2 A^-1/2;
    the identity where that gains nothing (PROGRESS) and would only round.

    A direction that one side does not have could shrink to 0 on the other: it gets a hundredth of
    the mean instead, so that g stays well conditioned.
    """
    largest = [m.diagonal(dim1=-2, dim2=-1).amax(-1) for m in (produced, consumed)]
    usable = (torch.minimum(*largest) > 0) & torch.isfinite(torch.maximum(*largest))
    eye = torch.eye(produced.shape[-1], dtype=torch.float64)
    a, c = (torch.where(usable[:, None, None], m, eye) for m in (produced, consumed))
    root, inverse_root = _roots(a, floor, absent=0.01)
    c_root, _ = _roots(c, floor, absent=0.01)
    inner, _ = _roots(root @ c_root @ c_root @ root)
    g, g_inverse = _roots(inverse_root @ inner @ inverse_root)
    before = _trace(a) + _trace(c)
    after = _trace(g @ a @ g) + _trace(g_inverse @ c @ g_inverse)
    gains = after < (1 - PROGRESS) * before
    g = torch.where(gains[:, None, None], g, eye)
    return [
        m if bool(ok) else "one side of the pair is zero: there is no balanced gauge"
        for m, ok in zip(g, usable, strict=True)
    ]


def _trace(matrices: Tensor) -> Tensor:
    return matrices.diagonal(dim1=-2, dim2=-1).sum(-1)


def _no_minimum(group: Group, produced: Tensor, consumed: Tensor, rounding: float) -> str:
    """Why tr(S A) + tr(S^-1 C) has no smallest value: a side has dependent rows, and what the other
    has in the missing directions shrinks for ever. Empty where there is one."""
    for rho, gram in (("g", produced), ("g^-T", consumed)):
        values = torch.linalg.eigvalsh((gram + gram.mT) / 2)
        rank = int((values > len(values) * rounding * values[-1]).sum())
        if rank < group.size:
            names = " and ".join(dict.fromkeys(s.tensor for s in group.slots if s.rho == rho))
            return f"rank {rank} of {group.size} in {names}: there is no smallest norm"
    return ""


def _whiten(gram: Tensor, side: int, floor: float) -> Answer:
    """gram^-1/2 or, for the other side, its inverse."""
    largest = float(gram.diagonal().max())
    if not 0 < largest < math.inf:
        return "the side that would be white is zero"
    root, inverse_root = _roots(gram, floor)
    return inverse_root if side > 0 else root


def _roots(gram: Tensor, floor: float = 1e-15, absent: float = 1.0) -> tuple[Tensor, Tensor]:
    """gram^1/2 and gram^-1/2. Eigenvalues below floor times the largest count as absent: they
    become `absent` times the geometric mean of the others."""
    values, vectors = torch.linalg.eigh((gram + gram.mT) / 2)
    present = values > floor * values[..., -1:]
    logs = torch.where(present, values.clamp_min(1e-300).log(), 0.0)
    mean = (logs.sum(-1, keepdim=True) / present.sum(-1, keepdim=True)).exp()
    root = torch.where(present, values, absent * mean).sqrt().unsqueeze(-2)
    return vectors * root @ vectors.mT, vectors / root @ vectors.mT


# --- statistics and sweeps ------------------------------------------------------------------------


def _sweep(groups: Sequence[Group], work: Work, solve: Solver, sweeps: int) -> Destination:
    elements: list[Tensor | None] = [None] * len(groups)
    reasons = [ISOMETRY] * len(groups)
    batches = _batches(groups)
    squares = math.inf
    for _ in range(sweeps):
        for batch in batches:
            answers = solve([groups[i] for i in batch], work)
            for i, answer in zip(batch, answers, strict=True):
                if isinstance(answer, str):
                    if elements[i] is None:
                        reasons[i] = answer
                    continue
                reasons[i] = ""
                work.move(groups[i], answer)
                before = elements[i] if elements[i] is not None else groups[i].identity()
                elements[i] = compose(groups[i], answer, before)
        if len(batches) == 1:
            break
        before, squares = squares, work.total()
        if not squares < (1 - PROGRESS) * before:
            break
    return Destination(elements, reasons)


def _batches(groups: Sequence[Group]) -> list[list[int]]:
    """Groups of equal kind and size that do not influence one another are solved together."""
    batches: list[list[int]] = []
    for i, group in enumerate(groups):
        if group.kind not in ("scale", "gl"):
            continue
        last = batches[-1] if batches else None
        if last is not None:
            first = groups[last[0]]
            alike = first.kind == group.kind and first.size == group.size
            if alike and all(not coupled(groups[j], group) for j in last):
                last.append(i)
                continue
        batches.append([i])
    return batches


def coupled(a: Group, b: Group) -> bool:
    """Whether moving one changes the statistics of the other: a shared tensor, except on disjoint
    ranges of one axis."""
    for s in a.slots:
        for t in b.slots:
            if s.tensor == t.tensor and (s.axis != t.axis or overlap(s, t)):
                return True
    return False


def overlap(s: Slot, t: Slot) -> bool:
    same = s.tensor == t.tensor and s.axis == t.axis
    return same and s.start < t.stop and t.start < s.stop


def _chains(groups: Sequence[Group]) -> list[list[int]]:
    """The GL groups, by component of shared tensors, from the first layer of each to its last."""
    left = [i for i, g in enumerate(groups) if g.kind == "gl"]
    chains = []
    while left:
        component, frontier = [], [left.pop(0)]
        while frontier:
            i = frontier.pop()
            component.append(i)
            near = [j for j in left if coupled(groups[i], groups[j])]
            left = [j for j in left if j not in near]
            frontier += near
        chains.append(_topological(sorted(component), groups))
    return chains


def _topological(component: list[int], groups: Sequence[Group]) -> list[int]:
    """i before j when j produces what i consumes: one tensor with i's g^-T and j's g."""
    outputs = {i: {s.tensor for s in groups[i].slots if s.rho == "g"} for i in component}
    inputs = {i: {s.tensor for s in groups[i].slots if s.rho == "g^-T"} for i in component}
    order: list[int] = []
    left = list(component)
    while left:
        ready = [
            j for j in left if not any(inputs[i] & outputs[j] for i in left if i != j)
        ] or left[:1]
        order.append(ready[0])
        left.remove(ready[0])
    return order
