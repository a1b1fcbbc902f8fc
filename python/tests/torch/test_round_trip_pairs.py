# SPDX-License-Identifier: MIT
"""RoundTrip on pairs of factors."""

from __future__ import annotations

import copy

import pytest
import torch
from round_trip_models import EXACT, Lora, draw, error
from torch import nn

from symport.torch import RoundTrip


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


class TestPairs:
    def test_each_factor_by_the_gram_matrix_of_the_other(self):
        model, x = Lora(6, 5, 2).double(), draw(7, 6)
        model.lora_B.data.normal_()
        A, B = model.lora_A, model.lora_B
        GA, GB = torch.autograd.grad(model(x).square().mean(), [A, B])
        eye = torch.eye(2).double()
        left, right = B.T @ B, A @ A.T
        u_A = torch.linalg.inv(left + 1e-3 * left.trace() / 2 * eye) @ GA
        u_B = GB @ torch.linalg.inv(right + 1e-3 * right.trace() / 2 * eye)
        trip = RoundTrip(model)
        model(x).square().mean().backward()
        trip.step()
        assert error(A.grad, u_A) < EXACT and error(B.grad, u_B) < EXACT
        assert "pair of rank 2" in repr(trip) and "base" in repr(trip)

    def test_the_step_does_not_depend_on_the_gauge_of_the_pair(self):
        """B g^-1, g A: the same product after the step (pair_damping towards 0)."""
        model, x = Lora(6, 5, 2).double(), draw(7, 6)
        model.lora_B.data.normal_()
        other = copy.deepcopy(model)
        g = draw(2, 2)
        other.lora_A.data = g @ other.lora_A.data
        other.lora_B.data = other.lora_B.data @ torch.linalg.inv(g)
        products = []
        for m in (model, other):
            trip = RoundTrip(m, pair_damping=1e-14)
            m(x).square().mean().backward()
            trip.step()
            torch.optim.SGD(m.parameters(), 0.1).step()
            products.append(m.lora_B.detach() @ m.lora_A.detach())
        assert error(products[1], products[0]) < 1e-9

    def test_a_zero_factor_steps_alone_first(self):
        model, x = Lora(6, 5, 2), torch.randn(7, 6)
        trip = RoundTrip(model)
        optimizer = torch.optim.SGD([model.lora_A, model.lora_B], 0.1)
        before = model.lora_A.detach().clone()
        for step in range(2):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            trip.step()
            optimizer.step()
            assert torch.isfinite(model.lora_A).all() and torch.isfinite(model.lora_B).all()
            assert torch.equal(before, model.lora_A) == (step == 0)

    def test_adapters_in_dictionaries_and_named_pairs(self):
        class Peft(nn.Module):
            def __init__(self):
                super().__init__()
                self.lora_A = nn.ModuleDict({"default": nn.Linear(6, 2, bias=False)})
                self.lora_B = nn.ModuleDict({"default": nn.Linear(2, 5, bias=False)})

            def forward(self, x):
                return self.lora_B["default"](self.lora_A["default"](x))

        model = Peft()
        trip = RoundTrip(model)
        assert [p.name for p in trip._pairs] == [".default lora_A, lora_B"] and not trip._layers
        plain = nn.Sequential(nn.Linear(6, 2, bias=False), nn.Linear(2, 5))
        trip = RoundTrip(plain, pairs=[("0.weight", "1.weight")])
        assert len(trip._pairs) == 1 and not trip._layers and "1.bias" in repr(trip)
        with pytest.raises(ValueError, match="no parameter 'nosuch'"):
            RoundTrip(plain, pairs=[("0.weight", "nosuch")])
        with pytest.raises(ValueError, match="no factors of a product"):
            RoundTrip(plain, pairs=[("1.weight", "0.weight")])
