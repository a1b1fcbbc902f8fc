# SPDX-License-Identifier: MIT
"""Two ranks with half of the batch each take the steps of one rank with all of it."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from test_layers import Lora
from torch import distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from symport.torch import RoundTrip

WORLD = 2
STEPS = 5
ROUNDING = 1e-10


def network(kind: str) -> nn.Module:
    torch.manual_seed(5)
    if kind == "convolutions":
        layers = [nn.Conv2d(2, 4, 2, groups=2), nn.ReLU(), nn.Flatten(), nn.Linear(16, 5)]
        return nn.Sequential(*layers).double()
    if kind == "lora":
        return Lora(6, 5, 2).double()
    return nn.Sequential(nn.Linear(6, 9), nn.LeakyReLU(0.1), nn.Linear(9, 5)).double()


def momentum(parameters):
    return torch.optim.SGD(parameters, 0.05, 0.9)


def adamw(parameters):
    return torch.optim.AdamW(parameters, 0.02)


# name -> (network, samples of both ranks together, optimizer, options, micro-batches)
CASES = {
    "momentum": ("mlp", 4, momentum, {}, 1),
    "adamw": ("mlp", 40, adamw, {"refresh": 2}, 1),
    "metric": ("mlp", 40, momentum, {"length": "metric"}, 1),
    "convolutions": ("convolutions", 4, momentum, {}, 1),
    "gradient accumulation": ("mlp", 12, adamw, {}, 3),
    "factor pairs": ("lora", 8, adamw, {}, 1),
}
SHARDED = ("momentum", "adamw", "metric", "factor pairs")


def wrapped(model, optimizer, options):
    parameters = [p for p in model.parameters() if p.requires_grad]
    return RoundTrip(model, optimizer(parameters), **{"power": 0.5, "rows": None, **options})


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


def train(model, optimizer, data, micro_batches, ranks=1, rank=0) -> dict[str, torch.Tensor]:
    for x, y in data:
        optimizer.zero_grad()
        parts = list(zip(x.chunk(micro_batches), y.chunk(micro_batches), strict=True))
        for i, (a, b) in enumerate(parts):
            last = i + 1 == len(parts)
            wait = model.no_sync() if hasattr(model, "no_sync") and not last else nullcontext()
            with wait:
                loss = F.cross_entropy(model(a.chunk(ranks)[rank]), b.chunk(ranks)[rank])
                (loss / micro_batches).backward()
        optimizer.step()
    return {name.removeprefix("module."): full(p) for name, p in model.named_parameters()}


def full(parameter: torch.Tensor) -> torch.Tensor:
    value = parameter.full_tensor() if hasattr(parameter, "full_tensor") else parameter
    return value.detach().clone()


def worker(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{folder}/meet", rank=rank, world_size=WORLD)
    found = {}
    for name, (kind, count, make, options, micro_batches) in CASES.items():
        model = DistributedDataParallel(network(kind))
        data = batches(kind, count)
        optimizer = wrapped(model, make, options)
        found[name] = train(model, optimizer, data, micro_batches, WORLD, rank)

    # Made with the model inside of DistributedDataParallel.
    inner = network("mlp")
    optimizer = wrapped(inner, adamw, {})
    data = batches("mlp", 40)
    found["inner"] = train(DistributedDataParallel(inner), optimizer, data, 1, WORLD, rank)

    # Sampled rows: other numbers than one rank, the same numbers on both.
    model = DistributedDataParallel(network("mlp"))
    optimizer = wrapped(model, adamw, {"rows": 8})
    found["sampled"] = train(model, optimizer, batches("mlp", 40), 1, WORLD, rank)

    # What the exchange is for: with statistics of their own the ranks drift apart.
    model = DistributedDataParallel(network("mlp"))
    optimizer = wrapped(model, adamw, {"process_group": None})
    found["apart"] = train(model, optimizer, batches("mlp", 4), 1, WORLD, rank)

    # A model that is not replicated, such as a stage of a pipeline: nothing is exchanged.
    model = network("mlp" if rank == 0 else "convolutions")
    optimizer = wrapped(model, adamw, {})
    train(model, optimizer, batches("mlp" if rank == 0 else "convolutions", 4), 1)

    # A layer that only one rank uses.
    model = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)]).double()
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(0.1)
    wrapper = DistributedDataParallel(Branch(model), find_unused_parameters=True)
    optimizer = wrapped(wrapper, adamw, {"refresh": 2})
    for step in range(4):
        optimizer.zero_grad()
        x = torch.full((3, 4), 0.5 + step).double()
        wrapper(x, rank == 0).square().mean().backward()
        optimizer.step()
    found["branches"] = {n: full(p) for n, p in model.named_parameters()}

    found["sharded"] = sharded(rank)
    torch.save(found, f"{folder}/rank{rank}.pt")
    dist.barrier()
    dist.destroy_process_group()


class Branch(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x, both):
        x = self.layers[0](x)
        return self.layers[1](x) if both else x


def sharded(rank: int) -> dict[str, dict[str, torch.Tensor]]:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (WORLD,))
    found = {}
    for name in SHARDED:
        kind, count, make, options, micro_batches = CASES[name]
        model = network(kind)
        if kind == "mlp":
            for layer in (model[0], model[2]):
                fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
        optimizer = wrapped(model, make, options)
        found[name] = train(model, optimizer, batches(kind, count), micro_batches, WORLD, rank)
    model = network("convolutions")
    fully_shard(model, mesh=mesh)
    found["text"] = repr(wrapped(model, adamw, {}))
    parallel = nn.Linear(4, 4)
    from torch.distributed.tensor.parallel import RowwiseParallel, parallelize_module

    parallel = parallelize_module(nn.Sequential(parallel), mesh, {"0": RowwiseParallel()})
    found["parallel"] = repr(wrapped(parallel, adamw, {}))
    return found


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    torch.multiprocessing.spawn(worker, (str(folder),), nprocs=WORLD)
    return [torch.load(folder / f"rank{r}.pt", weights_only=True) for r in range(WORLD)]


def error(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> float:
    assert found.keys() == expected.keys()
    return max(((found[n] - e).abs().max() / e.abs().max()).item() for n, e in expected.items())


def alone(name: str) -> dict[str, torch.Tensor]:
    kind, count, make, options, micro_batches = CASES[name]
    model = network(kind)
    return train(model, wrapped(model, make, options), batches(kind, count), micro_batches)


@pytest.mark.parametrize("name", CASES)
def test_two_ranks_take_the_steps_of_one(ranks, name):
    assert error(ranks[0][name], alone(name)) < ROUNDING


def test_the_group_is_found_where_the_model_was_wrapped_later(ranks):
    model = network("mlp")
    expected = train(model, wrapped(model, adamw, {}), batches("mlp", 40), 1)
    assert error(ranks[0]["inner"], expected) < ROUNDING


@pytest.mark.parametrize("name", [*CASES, "sampled", "branches"])
def test_both_ranks_have_the_same_bits(ranks, name):
    for parameter, value in ranks[0][name].items():
        assert torch.equal(value, ranks[1][name][parameter])


def test_without_an_exchange_the_ranks_drift_apart(ranks):
    assert error(ranks[1]["apart"], ranks[0]["apart"]) > 1e-3


@pytest.mark.parametrize("name", SHARDED)
def test_sharded_models_take_the_same_steps(ranks, name):
    for found in ranks:
        assert error(found["sharded"][name], alone(name)) < ROUNDING


def test_layouts_that_are_not_known_are_named(ranks):
    assert "sharded along its groups" in ranks[0]["sharded"]["text"]
    assert "tensor parallel" in ranks[0]["sharded"]["parallel"]
