# SPDX-License-Identifier: MIT
"""What RoundTrip costs: CPU time of a training step with it relative to one without, one thread.

    python experiments/torch/round_trip_cost.py

The small GPT of gpt.py at the widths 64 and 128 (two blocks) and 768 (one block, an MLP of 3,072).
Steps with and without RoundTrip alternate; the numbers are the lower quartiles of each, as other
programs can only add to them. Steps that make new gauges are measured apart and count as often as
`refresh` has them. Bytes are what RoundTrip keeps between steps, for each parameter of the model.
"""

from __future__ import annotations

import argparse
import datetime
import inspect
import time
from collections.abc import Iterator
from typing import Any

import gpt
import harness
import torch
from methods import split
from torch import Tensor
from torch.nn import functional as F

from symport.torch.round_trip import RoundTrip

LETTERS = 96
MAKERS = {
    "muon": lambda inner, others: [torch.optim.Muon(inner, 1e-3), torch.optim.AdamW(others, 1e-3)],
    "adamw": lambda inner, others: [torch.optim.AdamW([*inner, *others], 1e-3)],
}
REFRESH = inspect.signature(RoundTrip).parameters["refresh"].default


def quartile(seconds: list[float]) -> float:
    return sorted(seconds)[len(seconds) // 4] * 1e3


def goal(method: str, tokens: int) -> float:
    return 1.1 if tokens > 2048 else {"muon": 1.3, "adamw": 1.4}[method]


def tensors(state: Any) -> Iterator[Tensor]:
    if isinstance(state, Tensor):
        yield state
    elif isinstance(state, dict | list | tuple):
        for part in state.values() if isinstance(state, dict) else state:
            yield from tensors(part)


def measure(method: str, width: int, tokens: int, pairs: int) -> tuple[float, float, float, float]:
    """Milliseconds of a plain step, of one with RoundTrip and of one that makes new gauges; bytes
    for each parameter."""
    sides = []
    for with_trip in (False, True):
        torch.manual_seed(0)
        model = gpt.Gpt(LETTERS, width, 1 if width > 128 else 2)
        optimizers = MAKERS[method](*split(model))
        if with_trip:  # every second step makes new gauges
            optimizers = [RoundTrip(model, optimizers, refresh=2)]
        sides.append((model, optimizers))
    seconds: dict[str, list[float]] = {"plain": [], "ordinary": [], "refresh": []}
    for step in range(2 * pairs + 3):
        text = torch.randint(LETTERS, (tokens // gpt.CONTEXT, gpt.CONTEXT + 1))
        for side, (model, optimizers) in enumerate(sides):
            start = time.process_time()
            model.zero_grad()
            F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten()).backward()
            for optimizer in optimizers:
                optimizer.step()
            if step >= 3:  # before that every step makes new gauges
                kind = "plain" if side == 0 else "ordinary" if step % 2 else "refresh"
                seconds[kind].append(time.process_time() - start)
    model, (trip,) = sides[1]
    kept = sum(t.numel() * t.element_size() for t in tensors(trip.state_dict()["round_trip"]))
    plain, ordinary, refresh = (quartile(s) for s in seconds.values())
    return plain, ordinary, refresh, kept / sum(p.numel() for p in model.parameters())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--widths", type=int, nargs="+", default=[64, 128, 768])
    parser.add_argument("--tokens", type=int, nargs="+", default=[2048, 16384])
    parser.add_argument("--methods", nargs="+", default=list(MAKERS), choices=MAKERS)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{datetime.date.today()}, {harness.describe_machine()}, refresh {REFRESH}")
    print("method  width  tokens  plain ms  with RoundTrip  at a refresh  ratio  goal  bytes")
    for tokens in arguments.tokens:
        for width in arguments.widths:
            for method in arguments.methods:
                pairs = min(20, max(3, 20 * 2048 * 128 // (tokens * width)))
                plain, ordinary, refresh, kept = measure(method, width, tokens, pairs)
                mean = ((REFRESH - 1) * ordinary + refresh) / REFRESH
                print(
                    f"{method:7}{width:6}{tokens:8}{plain:10.1f}{ordinary:16.1f}{refresh:14.1f}"
                    f"{mean / plain:7.2f}{goal(method, tokens):6.1f}{kept:7.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
