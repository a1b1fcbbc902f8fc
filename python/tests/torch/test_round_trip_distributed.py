# SPDX-License-Identifier: MIT
"""Two ranks with half of the batch each take the steps of one rank with all of it."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from torch import distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from symport.torch import RoundTrip

WORLD = 2
STEPS = 3
ROUNDING = 1e-12


class Lora(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(6, 5)
        self.base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(2, 6))
        self.lora_B = nn.Parameter(torch.randn(5, 2))

    def forward(self, x):
        return self.base(x) + x @ self.lora_A.T @ self.lora_B.T


def network(kind: str) -> nn.Module:
    torch.manual_seed(5)
    if kind == "convolutions":
        layers = [nn.Conv2d(2, 4, 2, groups=2), nn.ReLU(), nn.Flatten(), nn.Linear(16, 5)]
        return nn.Sequential(*layers).double()
    if kind == "lora":
        return Lora().double()
    return nn.Sequential(nn.Linear(6, 9), nn.LeakyReLU(0.1), nn.Linear(9, 5)).double()


# name -> (network, samples of both ranks together, options of RoundTrip, micro-batches)
CASES = {
    "fewer rows than inputs": ("mlp", 4, {}, 1),
    "more rows than inputs": ("mlp", 40, {}, 1),
    "convolutions": ("convolutions", 4, {"rows": None}, 1),
    "running average": ("mlp", 8, {"kernel": "average", "refresh": 2}, 1),
    "gradient accumulation": ("mlp", 12, {}, 3),
    "factor pairs": ("lora", 8, {}, 1),
}


def batches(kind: str, count: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(11)
    shape = (count, 2, 3, 3) if kind == "convolutions" else (count, 6)
    return [
        (
            torch.randn(*shape, generator=generator, dtype=torch.float64),
            torch.randint(0, 5, (count,), generator=generator),
        )
        for _ in range(STEPS)
    ]


def train(model, trip, data, micro_batches, ranks=1, rank=0) -> dict[str, torch.Tensor]:
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], 0.1, 0.9)
    for x, y in data:
        optimizer.zero_grad()
        parts = list(zip(x.chunk(micro_batches), y.chunk(micro_batches), strict=True))
        for i, (a, b) in enumerate(parts):
            last = i + 1 == len(parts)
            wait = model.no_sync() if hasattr(model, "no_sync") and not last else nullcontext()
            with wait:
                loss = F.cross_entropy(model(a.chunk(ranks)[rank]), b.chunk(ranks)[rank])
                (loss / micro_batches).backward()
        trip.step()
        optimizer.step()
    return {name: full(p) for name, p in model.named_parameters()}


def full(parameter: torch.Tensor) -> torch.Tensor:
    value = parameter.full_tensor() if hasattr(parameter, "full_tensor") else parameter
    return value.detach().clone()


def worker(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{folder}/meet", rank=rank, world_size=WORLD)
    found = {}
    for name, (kind, count, options, micro_batches) in CASES.items():
        model = DistributedDataParallel(network(kind))
        trip = RoundTrip(model, **options)
        data = batches(kind, count)
        found[name] = train(model, trip, data, micro_batches, WORLD, rank)

    # Sampled rows: other numbers than one rank, the same numbers on both.
    model = DistributedDataParallel(network("mlp"))
    data = batches("mlp", 40)
    found["sampled"] = train(model, RoundTrip(model, rows=8), data, 1, WORLD, rank)

    # What the exchange is for: with statistics of their own the ranks drift apart.
    model = DistributedDataParallel(network("mlp"))
    trip = RoundTrip(model, process_group=None)
    found["apart"] = train(model, trip, batches("mlp", 4), 1, WORLD, rank)

    # A rank with fewer rows.
    model = network("mlp")
    trip = RoundTrip(model)
    x, y = batches("mlp", 6)[0]
    mine = slice(0, 2) if rank == 0 else slice(2, 6)
    F.cross_entropy(model(x[mine]), y[mine]).backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= WORLD
    before = [p.grad.clone() for p in model.parameters()]
    trip.step()
    found["uneven"] = {"before": before, "after": [p.grad for p in model.parameters()]}

    found["sharded"] = sharded(rank)
    torch.save(found, f"{folder}/rank{rank}.pt")
    dist.barrier()
    dist.destroy_process_group()


def sharded(rank: int) -> dict[str, dict[str, torch.Tensor]]:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (WORLD,))
    found = {}
    for name in ("fewer rows than inputs", "more rows than inputs", "factor pairs"):
        kind, count, options, micro_batches = CASES[name]
        model = network(kind)
        if kind == "mlp":
            for layer in (model[0], model[2]):
                fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
        trip = RoundTrip(model, **options)
        found[name] = train(model, trip, batches(kind, count), micro_batches, WORLD, rank)
    model = network("convolutions")
    fully_shard(model, mesh=mesh)
    found["text"] = repr(RoundTrip(model))
    return found


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    torch.multiprocessing.spawn(worker, (str(folder),), nprocs=WORLD)
    return [torch.load(folder / f"rank{r}.pt", weights_only=True) for r in range(WORLD)]


def error(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> float:
    found = {name.removeprefix("module."): value for name, value in found.items()}
    assert found.keys() == expected.keys()
    return max(((found[n] - e).abs().max() / e.abs().max()).item() for n, e in expected.items())


def alone(name: str) -> dict[str, torch.Tensor]:
    kind, count, options, micro_batches = CASES[name]
    model = network(kind)
    return train(model, RoundTrip(model, **options), batches(kind, count), micro_batches)


@pytest.mark.parametrize("name", CASES)
def test_two_ranks_take_the_steps_of_one(ranks, name):
    assert error(ranks[0][name], alone(name)) < ROUNDING


@pytest.mark.parametrize("name", [*CASES, "sampled"])
def test_both_ranks_have_the_same_bits(ranks, name):
    for parameter, value in ranks[0][name].items():
        assert torch.equal(value, ranks[1][name][parameter])


def test_without_an_exchange_the_ranks_drift_apart(ranks):
    assert error(ranks[1]["apart"], {n[7:]: v for n, v in ranks[0]["apart"].items()}) > 1e-3


def test_ranks_may_have_different_numbers_of_rows(ranks):
    x = batches("mlp", 6)[0][0]
    H = torch.cat((x, torch.ones(6, 1).double()), 1)
    A = H.T @ H / 6
    inverse = torch.linalg.inv(A + 0.1 * A.trace() / 6 * torch.eye(7).double())
    for found in ranks:
        weight, bias = found["uneven"]["before"][:2]
        expected = torch.cat((weight, bias[:, None]), 1) @ inverse
        assert (found["uneven"]["after"][0] - expected[:, :6]).abs().max() < ROUNDING
        assert (found["uneven"]["after"][1] - expected[:, 6]).abs().max() < ROUNDING


@pytest.mark.parametrize(
    "name", ["fewer rows than inputs", "more rows than inputs", "factor pairs"]
)
def test_sharded_models_take_the_same_steps(ranks, name):
    for found in ranks:
        assert error(found["sharded"][name], alone(name)) < ROUNDING


def test_what_cannot_be_stepped_sharded_is_left_alone_with_the_reason(ranks):
    assert "sharded along an axis that its groups or inputs need" in ranks[0]["sharded"]["text"]
