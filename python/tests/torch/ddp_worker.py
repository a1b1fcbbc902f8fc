# SPDX-License-Identifier: MIT
"""One of two gloo processes: trains with teleports and saves what it ends with.

python ddp_worker.py RANK SIZE RENDEZVOUS OUTPUT OBJECTIVE...
"""

from __future__ import annotations

import sys

import torch
import torch.distributed as dist
from by_hand import network
from torch import nn

from symport.torch import Symmetries, Teleporter


def main(rank: int, size: int, rendezvous: str, output: str, *objectives: str) -> None:
    torch.set_num_threads(1)
    if size > 1:
        dist.init_process_group(
            "gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=size
        )
    torch.save({o: train(rank, size, o) for o in objectives}, f"{output}.{rank}")
    if size > 1:
        dist.destroy_process_group()


def train(rank: int, size: int, objective: str) -> dict[str, list]:
    kind = "gl" if objective == "alternate" else "scale"
    inner, symmetries, _ = network(kind)
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(6, 40, 5, generator=generator, dtype=torch.float64)
    y = torch.randn(6, 40, 3, generator=generator, dtype=torch.float64)
    per = 40 // size
    x, y = (t[:, rank * per : (rank + 1) * per] for t in (x, y))
    model = nn.parallel.DistributedDataParallel(inner) if size > 1 else inner
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    teleporter = Teleporter(Symmetries(model, symmetries.groups), optimizer, 2, objective=objective)
    for xs, ys in zip(x, y, strict=True):

        def closure(xs=xs, ys=ys):
            return nn.functional.mse_loss(inner(xs), ys)

        optimizer.zero_grad()
        nn.functional.mse_loss(model(xs), ys).backward()
        teleporter.step(closure)
        optimizer.step()
    return {
        "parameters": [p.detach() for p in inner.parameters()],
        "certificates": [c.to_dict() for c in teleporter.certificates],
    }


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
