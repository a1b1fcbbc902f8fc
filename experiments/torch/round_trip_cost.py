# SPDX-License-Identifier: MIT
"""What RoundTrip costs: CPU time of step() and of its hooks relative to a training step without.

784-512-512-10 at batch 100, one thread. Rounds with and without RoundTrip alternate; the numbers
are the lower quartiles of each, as other programs can only add to them.
"""

from __future__ import annotations

import argparse
import datetime
import time

import harness
import torch
from torch import nn

from symport.torch import RoundTrip

ROUNDS, STEPS = 10, 20


def quartile(values: list[float]) -> float:
    return sorted(values)[len(values) // 4] * 1e3


def measure(make, batch: int, options: dict) -> tuple[float, float, float]:
    """Milliseconds of a training step, of a training step with hooks, and of step()."""
    torch.manual_seed(0)
    widths = (784, 512, 512, 10)
    layers = [nn.Linear(a, b) for a, b in zip(widths, widths[1:], strict=False)]
    model = nn.Sequential(layers[0], nn.LeakyReLU(0.1), layers[1], nn.LeakyReLU(0.1), layers[2])
    optimizer = make(model.parameters())
    x, y = torch.rand(batch, 784), torch.randint(0, 10, (batch,))
    plain, hooked, trips = [], [], []
    for _ in range(ROUNDS):
        for with_trip in (False, True):
            trip = RoundTrip(model, **options) if with_trip else None
            for _ in range(STEPS):
                start = time.process_time()
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x), y).backward()
                middle = time.process_time()
                if trip is not None:
                    trip.step()
                after = time.process_time()
                optimizer.step()
                rest = time.process_time() - after + middle - start
                if trip is None:
                    plain.append(rest)
                else:
                    hooked.append(rest)
                    trips.append(after - middle)
            if trip is not None:
                trip.remove()
    return quartile(plain), quartile(hooked), quartile(trips)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--kernel", default="batch")
    parser.add_argument("--fused", action="store_true", help="RoundTrip(model, fused=True)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{datetime.date.today()}, {harness.describe_machine()}, batch {arguments.batch}")
    options = {"kernel": arguments.kernel, "fused": arguments.fused}
    print("optimizer     step ms   RoundTrip.step() ms   ratio   with hooks")
    makers = {
        "sgd": lambda p: torch.optim.SGD(p, 0.01),
        "momentum": lambda p: torch.optim.SGD(p, 0.01, momentum=0.9),
        "adamw": lambda p: torch.optim.AdamW(p, 1e-4),
    }
    for name, make in makers.items():
        plain, hooked, trip = measure(make, arguments.batch, options)
        whole = (hooked + trip) / plain - 1
        print(f"{name:10} {plain:10.2f} {trip:21.2f} {trip / plain:7.2f} {whole:12.2f}", flush=True)


if __name__ == "__main__":
    main()
