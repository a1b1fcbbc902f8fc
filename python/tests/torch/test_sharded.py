# SPDX-License-Identifier: MIT
"""FSDP2: what moves parameters refuses sharded ones with the reason, and changes nothing."""

from __future__ import annotations

import pytest
import torch
from torch import distributed as dist
from torch import nn

from symport.torch import Symmetries, Teleporter, balance, find_symmetries, teleport


@pytest.fixture(scope="module")
def mesh(tmp_path_factory):
    file = tmp_path_factory.mktemp("group") / "store"
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=0, world_size=1)
    yield dist.init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))


@pytest.fixture
def sharded(mesh, tmp_path) -> tuple[nn.Module, Symmetries, torch.Tensor]:
    from torch.distributed.fsdp import fully_shard

    x = torch.randn(5, 4)
    find_symmetries(network(), x).save(tmp_path / "gauge.json")
    model = network()
    fully_shard(model, mesh=mesh)
    return model, Symmetries.load(tmp_path / "gauge.json", model), x


def values(model: nn.Module) -> list[torch.Tensor]:
    return [p.full_tensor().detach().clone() for p in model.parameters()]


def test_the_search_says_what_to_do(sharded) -> None:
    model, _, x = sharded
    with pytest.raises(ValueError, match="is sharded .* before fully_shard"):
        find_symmetries(model, x)


def test_teleports_are_refused_and_nothing_changes(sharded) -> None:
    model, symmetries, x = sharded
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    before = values(model)

    def closure() -> torch.Tensor:
        return model(x).square().mean()

    closure().backward()
    certificates = [
        balance(model, symmetries=symmetries),
        teleport(model, closure, symmetries=symmetries, optimizer=optimizer),
        Teleporter(symmetries, optimizer, 1).step(),
    ]
    for certificate in certificates:
        assert not certificate.accepted
        assert "is sharded (DTensor)" in certificate.reason
    for found, expected in zip(values(model), before, strict=True):
        assert torch.equal(found, expected)
