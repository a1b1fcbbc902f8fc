# SPDX-License-Identifier: MIT
"""The optimizers of the experiments, and how each one is tuned.

A setting is a dictionary of numbers. Every method is tuned on all of its numbers by the same climb
with the same budget: from the setting in the table, one number at a time goes to its neighbours for
as long as that helps.

    rate      of the weight matrices between the inputs and the head
    other     of everything else: embeddings, norms, biases and the head (one rate for all where a
              method has no such number)
    momentum  of SGD and Muon
    beta2     of Adam, SOAP and Lion
    decay     weight decay, decoupled; relative to the rate, as PyTorch defines it
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch
from table import IN_GAUGE
from torch import nn

Setting = dict[str, float]

SERIES = (1.0, 2.0, 3.0, 5.0)  # of rates, in each decade
LADDERS = {
    "momentum": (0.0, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98),
    "beta2": (0.8, 0.9, 0.95, 0.98, 0.99, 0.999),
    "decay": (0.0, 0.01, 0.1, 0.3, 1.0),
}


def sgd(matrices, others, s):
    parameters = [*matrices, *others]
    return [torch.optim.SGD(parameters, s["rate"], momentum=s.get("momentum", 0.0))]


def adamw(matrices, others, s):
    other = s.get("other", s["rate"])
    groups = [{"params": matrices, "lr": s["rate"]}, {"params": others, "lr": other}]
    groups[0]["weight_decay"], groups[1]["weight_decay"] = s["decay"], 0.0
    return [torch.optim.AdamW([g for g in groups if g["params"]], betas=(0.9, s["beta2"]))]


def muon(matrices, others, s):
    hidden = FlatMuon(matrices, s["rate"], momentum=s["momentum"], weight_decay=s["decay"])
    return [hidden, torch.optim.AdamW(others, s["other"], betas=(0.9, 0.95), weight_decay=0.0)]


def soap(matrices, others, s):
    from pytorch_optimizer import SOAP  # benchmarks/requirements.txt

    hidden = SOAP(matrices, s["rate"], betas=(0.95, s["beta2"]), weight_decay=s["decay"])
    return [hidden, torch.optim.AdamW(others, s["other"], betas=(0.9, 0.95), weight_decay=0.0)]


def lion(matrices, others, s):
    from pytorch_optimizer import Lion  # benchmarks/requirements.txt

    groups = [
        {"params": matrices, "lr": s["rate"], "weight_decay": s["decay"]},
        {"params": others, "lr": s["other"], "weight_decay": 0.0},
    ]
    return [Lion(groups, betas=(0.9, s["beta2"]))]


class FlatMuon(torch.optim.Muon):
    """`torch.optim.Muon`, which takes matrices only, with convolutions flattened to matrices while
    it steps."""

    def __init__(self, parameters: Iterable[torch.Tensor], *arguments, **options):
        originals = list(parameters)
        self.views = [p.detach().flatten(1) for p in originals]
        super().__init__(self.views, *arguments, **options)
        self.param_groups[0]["params"] = originals

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        (group,) = self.param_groups
        originals, group["params"] = group["params"], self.views
        for view, p in zip(self.views, originals, strict=True):
            view.grad = None if p.grad is None else p.grad.flatten(1)
        loss = super().step(closure)
        group["params"] = originals
        for view, p in zip(self.views, originals, strict=True):
            for key, value in self.state[view].items():
                self.state[p][key] = value.view(p.shape)
        return loss


@dataclass(frozen=True)
class Method:
    """`make(matrices, others, setting)` gives the optimizers, `gauge` are options of the RoundTrip
    around them."""

    make: Callable[[list[torch.Tensor], list[torch.Tensor], Setting], list[torch.optim.Optimizer]]
    start: Setting
    gauge: dict[str, Any] | None = None


METHODS = {
    "sgd": Method(sgd, {"rate": 0.2}),
    "momentum": Method(sgd, {"rate": 0.05, "momentum": 0.9}),
    "adamw, one rate": Method(adamw, {"rate": 2e-3, "beta2": 0.999, "decay": 0.01}),
    "adamw": Method(adamw, {"rate": 5e-3, "other": 2e-2, "beta2": 0.95, "decay": 0.01}),
    "muon": Method(muon, {"rate": 3e-2, "other": 2e-2, "momentum": 0.95, "decay": 0.01}),
    "soap": Method(soap, {"rate": 5e-3, "other": 2e-2, "beta2": 0.95, "decay": 0.01}),
    "lion": Method(lion, {"rate": 1e-3, "other": 3e-3, "beta2": 0.98, "decay": 0.1}),
}
METHODS |= {
    name + IN_GAUGE: replace(METHODS[name], gauge={})
    for name in ("momentum", "adamw", "muon", "soap", "lion")
}


def split(model: nn.Module) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The weights of linear layers and convolutions except the last such layer, and the rest."""
    layers = [m for m in model.modules() if isinstance(m, nn.Linear | nn.Conv2d)]
    inner = {id(layer.weight) for layer in layers[:-1]}
    parameters = [p for p in model.parameters() if p.requires_grad]
    return [p for p in parameters if id(p) in inner], [p for p in parameters if id(p) not in inner]


def neighbours(setting: Setting, name: str) -> list[Setting]:
    """The settings one place down and one place up in one number."""
    value = setting[name]
    if name in LADDERS:
        ladder = LADDERS[name]
        place = min(range(len(ladder)), key=lambda i: abs(ladder[i] - value))
        values = [ladder[i] for i in (place - 1, place + 1) if 0 <= i < len(ladder)]
    else:
        values = [next_rate(value, up) for up in (False, True)]
    return [{**setting, name: v} for v in values]


def next_rate(rate: float, up: bool) -> float:
    """The neighbour of a rate in the series 1, 2, 3, 5, 10."""
    exponent = math.floor(math.log10(rate))
    series = [float(f"{m:g}e{e}") for e in range(exponent - 1, exponent + 2) for m in SERIES]
    if up:
        return min(r for r in series if r > rate * 1.01)
    return max(r for r in series if r < rate * 0.99)


def climb(start: Setting, score: Callable[[Setting], float], budget: int) -> Setting:
    """The best setting found by at most `budget` scores (lower is better, NaN is worst): number
    after number moves to its better neighbour for as long as that helps, until a whole round
    changes nothing."""
    scores: dict[tuple, float] = {}

    def scored(setting: Setting) -> float:
        key = tuple(sorted(setting.items()))
        if key not in scores:
            if len(scores) >= budget:
                return math.inf
            value = score(setting)
            scores[key] = value if math.isfinite(value) else math.inf
        return scores[key]

    best, lowest = dict(start), scored(start)
    moved = True
    while moved:
        moved = False
        for name in start:
            while True:
                tries = [(scored(s), s) for s in neighbours(best, name)]
                value, candidate = min(tries, key=lambda t: t[0])
                if not value < lowest:
                    break
                best, lowest, moved = candidate, value, True
    return best
