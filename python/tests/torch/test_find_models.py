# SPDX-License-Identifier: MIT
"""find_symmetries: frozen, tied, compiled and unusual models, and the printed table."""

from copy import deepcopy

import pytest
import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from finding import find, summary
from models import MLP, ResNet, RMSNorm
from torch import nn

from symport.torch import find_symmetries


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def test_a_frozen_layer_forbids_its_group():
    model = MLP(3, 4, 5, 2)
    model[2].weight.requires_grad_(False)
    symmetries = find(model)
    assert symmetries.groups == []
    assert any("frozen" in refusal.reason for refusal in symmetries.refused)


def test_tied_layers_act_once():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)
            self.b.weight, self.b.bias = self.a.weight, self.a.bias

        def forward(self, x):
            return self.c(F.relu(self.b(F.relu(self.a(x)))))

    symmetries = find_symmetries(Tied(), torch.randn(3, 4))
    # The second layer reads what the first one writes; only the last pair would be free, but its
    # producer is also the first layer.
    assert symmetries.groups == []


def test_a_shared_layer_scales_all_its_neighbours():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(3, 4), nn.Linear(3, 4), nn.Linear(4, 2)

        def forward(self, x):
            return self.c(F.relu(self.a(x))) + self.c(F.relu(self.b(x)))

    symmetries = find_symmetries(Shared(), torch.randn(3, 3))
    assert summary(symmetries) == [("R+^4", "a, b → c", 1)]


def test_weight_norm_is_scale_invariant():
    model = MLP(3, 4, 2)
    nn.utils.parametrizations.weight_norm(model[0])
    symmetries = find(model)
    assert [g.name for g in symmetries.groups] == ["R+^4", "R+^4"]
    tensors = {frozenset(g.tensors) for g in symmetries.groups}
    assert frozenset({"0.parametrizations.weight.original1"}) in tensors


def test_unknown_parametrizations_are_refused():
    model = MLP(3, 4, 2)

    class Exponential(nn.Module):
        def forward(self, x):
            return torch.exp(x)

    nn.utils.parametrize.register_parametrization(model[0], "weight", Exponential())
    symmetries = find(model)
    assert symmetries.groups == []
    assert any("exp" in refusal.reason for refusal in symmetries.refused)


class Sorted(nn.Module):
    """torch.sort has no rule; along the tokens it is homogeneous, along the channels it is not."""

    def __init__(self, axis: int) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x):
        return torch.sort(x, dim=self.axis).values


def test_operations_without_a_rule_refuse():
    x = torch.randn(2, 5, 3)
    for unknown in (Sorted(1), Sorted(2), nn.Hardshrink(1e-3), nn.Softshrink(1e-3)):
        symmetries = find_symmetries(nn.Sequential(nn.Linear(3, 4), unknown, nn.Linear(4, 2)), x)
        assert symmetries.groups == []
        assert "no rule for" in symmetries.refused[0].reason


def test_embeddings_into_a_linear_network():
    model = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 3))
    symmetries = find_symmetries(model, torch.randint(7, (2, 5)))
    assert summary(symmetries) == [("GL(4)", "0 → 1", 1)]


def test_casts_to_single_precision_inside_of_the_model():
    class Cast(RMSNorm):
        def forward(self, x):
            return super().forward(x.float()).to(x.dtype)

    model = nn.Sequential(Cast(4), nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2))
    symmetries = find_symmetries(model, torch.randn(3, 4))
    assert summary(symmetries) == [("R+^4", "0 → 1", 1), ("R+^5", "1 → 3", 1)]
    assert symmetries.drift < 1e-13


def test_a_loss_function_replaces_the_outputs():
    model = MLP(3, 4, 2)
    x, y = torch.randn(6, 3), torch.randint(2, (6,))
    for symmetries in (
        find_symmetries(model, (x, y), nn.CrossEntropyLoss()),
        find_symmetries(model, x, lambda output: F.cross_entropy(output, y)),
    ):
        assert summary(symmetries) == [("R+^4", "0 → 2", 1)]
    # A loss that does not see the scale of the outputs frees the last layer.
    invariant = find_symmetries(model, x, lambda output: (output / output.abs().sum()).std())
    assert invariant.dimension == 5


def test_dict_inputs_and_outputs():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = MLP(3, 4, 2)

        def forward(self, *, x):
            return {"logits": self.net(x), "length": 3}

    assert find_symmetries(Named(), {"x": torch.randn(2, 3)}).dimension == 4


def test_compiled_models_are_searched_inside():
    model = torch.compile(MLP(3, 4, 2), backend="eager")
    symmetries = find_symmetries(model, torch.randn(2, 3))
    assert symmetries.groups[0].tensors == ("0.weight", "0.bias", "2.weight")
    symmetries.act(symmetries.random_element(0, 0.1))


def test_compiled_parts_of_a_model():
    model = nn.Sequential(torch.compile(nn.Linear(3, 4)), nn.ReLU(), nn.Linear(4, 2))
    assert find_symmetries(model, torch.randn(2, 3)).dimension == 4


def test_activation_checkpoints():
    class Checkpointed(MLP):
        def forward(self, x):
            return torch.utils.checkpoint.checkpoint(super().forward, x, use_reentrant=False)

    assert find(Checkpointed(3, 4, 2)).dimension == 4


def test_embeddings_with_a_padding_index():
    model = nn.Sequential(nn.Embedding(7, 4, padding_idx=0), nn.Linear(4, 3))
    with torch.no_grad():
        model[0].weight[0] = 1.0
    symmetries = find_symmetries(model, torch.tensor([[0, 1, 2], [3, 0, 0]]))
    assert summary(symmetries) == [("GL(4)", "0 → 1", 1)]


def test_half_precision_keeps_powers_of_two_only():
    model = MLP(3, 4, 5, 2, activation="identity").to(torch.bfloat16)
    symmetries = find_symmetries(model, torch.randn(2, 3).to(torch.bfloat16))
    assert {g.kind for g in symmetries.groups} == {"scale"}
    assert all("powers of two only" in g.note for g in symmetries.groups)
    assert any(r.name == "GL(4)" and "half precision" in r.reason for r in symmetries.refused)


def test_the_search_touches_neither_weights_nor_random_numbers():
    model = ResNet()
    model.fc.weight.grad = torch.ones_like(model.fc.weight)
    before = deepcopy(model.state_dict())
    versions = [p._version for p in model.parameters()]
    random, x = torch.get_rng_state(), model.example()
    random = torch.get_rng_state()
    image = x.clone()
    find_symmetries(model, x)
    assert torch.equal(torch.get_rng_state(), random)
    assert versions == [p._version for p in model.parameters()]
    assert all(torch.equal(t, before[n]) for n, t in model.state_dict().items())
    assert torch.equal(model.fc.weight.grad, torch.ones_like(model.fc.weight))
    assert model.conv1.weight.grad is None and torch.equal(x, image)
    assert torch.get_default_dtype() == torch.float32


def test_the_printed_table():
    model = MLP(3, 4, 5, 2)
    model.append(nn.GELU())
    model.append(nn.Linear(2, 2))
    optimizer = torch.optim.AdamW(model.parameters())
    lines = str(find(model, optimizer=optimizer)).splitlines()
    assert lines[0].split() == ["group", "where", "dim", "feels", "(AdamW)", "proof", "note"]
    assert lines[1].startswith("R+^4   0 → 2  4    yes")
    assert "bit-exact with powers of two" in lines[1]
    assert lines[-1].startswith("none") and "gelu is not homogeneous" in lines[-1]
