# SPDX-License-Identifier: MIT
"""What RoundTrip refuses, and how."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from symport.torch import RoundTrip


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


class TestRefusals:
    @pytest.mark.parametrize(
        "options, message",
        [
            ({"damping": 0}, "damping: found 0, expected a positive number"),
            ({"damping": float("nan")}, "damping: found nan"),
            ({"damping": "0.1"}, "damping: found '0.1', expected a number"),
            ({"kernel": "mean"}, "kernel: found 'mean', expected 'batch' or 'average'"),
            ({"refresh": 0}, "refresh: found 0, expected at least 1"),
            ({"rows": 1.5}, "rows: found 1.5, expected a whole number"),
            ({"pair_damping": -1}, "pair_damping: found -1"),
            ({"pairs": ["ab"]}, "expected the two names"),
        ],
    )
    def test_wrong_arguments(self, options, message):
        model = nn.Linear(3, 2)
        with pytest.raises((ValueError, TypeError), match=message.replace("(", r"\(")):
            RoundTrip(model, **options)
        assert not model._forward_hooks

    def test_models(self):
        with pytest.raises(TypeError, match="expected a torch.nn.Module"):
            RoundTrip([nn.Linear(3, 2)])
        with pytest.raises(TypeError, match="float16 parameters"):
            RoundTrip(nn.Linear(3, 2).half())
        with torch.inference_mode():
            model = nn.Linear(3, 2)
        with pytest.raises(ValueError, match="inference_mode"):
            RoundTrip(model)
        with pytest.raises(ValueError, match="lazy layer"):
            RoundTrip(nn.LazyLinear(3))
        with pytest.raises(
            ValueError, match="no layer that a round trip could step\n  0: Embedding"
        ):
            RoundTrip(nn.Sequential(nn.Embedding(3, 2), nn.LayerNorm(2)))
        with pytest.raises(TypeError, match="DataParallel"):
            RoundTrip(nn.DataParallel(nn.Linear(3, 2)))
        model = nn.Linear(3, 2)
        RoundTrip(model)
        with pytest.raises(ValueError, match="has a RoundTrip already"):
            RoundTrip(model)

    def test_quantised_layers(self):
        model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
        model[0].weight = nn.Parameter(torch.ones(2, 3, dtype=torch.int8), requires_grad=False)
        assert "0  Linear: quantised" in repr(RoundTrip(model))

    def test_steps_at_the_wrong_time(self):
        model = nn.Linear(3, 2)
        trip = RoundTrip(model)
        with pytest.raises(RuntimeError, match="no gradients"):
            trip.step()
        model(torch.randn(4, 3)).sum().backward()
        trip.step()
        after = model.weight.grad.clone()
        with pytest.raises(RuntimeError, match="no inputs .* once for each backward"):
            trip.step()
        assert torch.equal(after, model.weight.grad)

    def test_made_after_the_forward_pass(self):
        for model in (nn.Linear(3, 2), torch.compile(nn.Linear(3, 2), backend="eager")):
            model(torch.randn(4, 3)).sum().backward()
            with pytest.raises(RuntimeError, match=r"make RoundTrip\(model\) before the forward"):
                RoundTrip(model).step()

    @pytest.mark.parametrize("name", ["SGD", "AdamW"])
    @pytest.mark.parametrize("options", [{}, {"foreach": True}, {"fused": True}])
    def test_steps_after_the_optimizer(self, name, options):
        model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1, **options)
        trip = RoundTrip(model)
        model(torch.randn(5, 3)).square().mean().backward()
        optimizer.step()
        before = [p.grad.clone() for p in model.parameters()]
        with pytest.raises(RuntimeError, match=r"^layer '0': its weight changed .* before opt"):
            trip.step()
        assert all(torch.equal(b, p.grad) for b, p in zip(before, model.parameters(), strict=True))
        for _ in range(2):  # in order, with micro-batches
            optimizer.zero_grad()
            for _ in range(2):
                model(torch.randn(5, 3)).square().mean().backward()
            trip.step()
            optimizer.step()

    def test_pairs_after_the_optimizer(self):
        model = nn.Sequential(nn.Linear(6, 2, bias=False), nn.Linear(2, 5, bias=False))
        trip = RoundTrip(model, pairs=[("0.weight", "1.weight")])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.randn(5, 6)).square().mean().backward()
            trip.step()
            optimizer.step()
        with pytest.raises(RuntimeError, match="before optimizer.step"):
            trip.step()
