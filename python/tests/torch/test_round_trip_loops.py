# SPDX-License-Identifier: MIT
"""RoundTrip in training loops: which passes count, and what surrounds them."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from dense_reference import expected_gradients
from round_trip_models import EXACT, classes, draw, error, layer_uses, linears, mlp
from torch import nn
from torch.nn import functional as F

from symport.torch import RoundTrip


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


class TestWhatIsRecorded:
    def test_passes_without_a_gradient_are_not_recorded(self):
        model, x, y = mlp(9, 8, 5), draw(4, 9), classes(4)
        trip = RoundTrip(model)
        with torch.no_grad():
            model(draw(50, 9))
        with torch.inference_mode():
            model(draw(50, 9))
        model(draw(50, 9))  # no backward
        torch.autograd.grad(model(draw(50, 9)).sum(), list(model.parameters()))
        assert all(not layer.uses for layer in trip._layers)
        F.cross_entropy(model(x), y).backward()
        assert [u.total for layer in trip._layers for u in layer.uses] == [4, 4]

    def test_zero_grad_drops_what_was_recorded(self):
        model = mlp(9, 8, 5)
        trip = RoundTrip(model)
        model(draw(50, 9)).sum().backward()
        model.zero_grad()
        model(draw(4, 9)).sum().backward()
        assert [u.total for u in layer_uses(trip)] == [4]

    def test_inputs_changed_after_the_pass_do_not_matter(self):
        model, x, y = mlp(9, 8, 5), draw(4, 9), classes(4)
        expected = expected_gradients(
            model, linears(model), [lambda: F.cross_entropy(model(x), y)], 0.1
        )
        trip = RoundTrip(model)
        F.cross_entropy(model(x), y).backward()
        x.zero_()
        trip.step()
        assert error(model[0].weight.grad, expected[0][0]) < EXACT

    def test_clipped_gradients(self):
        """The direction is that of the gradient as it is at step(), whatever was done to it."""
        model, x, y = mlp(9, 8, 5), draw(4, 9), classes(4)
        trip = RoundTrip(model)
        F.cross_entropy(model(x), y).backward()
        torch.nn.utils.clip_grad_value_(model.parameters(), 1e-2)
        G = torch.cat((model[0].weight.grad, model[0].bias.grad[:, None]), 1)
        H = torch.cat((x, torch.ones(4, 1).double()), 1)
        A = H.T @ H / 4
        expected = G @ torch.linalg.inv(A + 0.1 * A.trace() / 4 * torch.eye(10).double())
        trip.step()
        assert error(model[0].weight.grad, expected[:, :9]) < EXACT

    @pytest.mark.parametrize("reentrant", [False, True])
    def test_activation_checkpointing(self, reentrant):
        from torch.utils.checkpoint import checkpoint

        model, x, y = mlp(9, 8, 5), draw(4, 9).requires_grad_(), classes(4)
        expected = expected_gradients(
            model, linears(model), [lambda: F.cross_entropy(model(x), y)], 0.1
        )
        trip = RoundTrip(model)
        F.cross_entropy(checkpoint(model, x, use_reentrant=reentrant), y).backward()
        assert [u.total for layer in trip._layers for u in layer.uses] == [4, 4]
        trip.step()
        assert error(model[0].weight.grad, expected[0][0]) < EXACT

    def test_frozen_layers_and_layers_without_a_gradient(self):
        model = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3), "c": nn.Linear(3, 3)})
        model["b"].requires_grad_(False)
        trip = RoundTrip(model)
        model["b"](model["a"](torch.randn(5, 3))).square().mean().backward()
        trip.step()
        assert model["b"].weight.grad is None and model["c"].weight.grad is None
        assert "frozen" in repr(trip)
        model["b"].requires_grad_(True)  # thawed later
        model.zero_grad()
        model["b"](torch.randn(5, 3)).square().mean().backward()
        before = model["b"].weight.grad.clone()
        trip.step()
        assert not torch.equal(before, model["b"].weight.grad)

    def test_a_frozen_bias_is_not_an_input(self):
        layer, x = nn.Linear(3, 2, dtype=torch.float64), draw(5, 3)
        layer.bias.requires_grad_(False)
        trip = RoundTrip(layer)
        layer(x).square().mean().backward()
        G = layer.weight.grad.clone()
        A = x.T @ x / 5
        trip.step()
        assert (
            error(
                layer.weight.grad, G @ torch.linalg.inv(A + A.trace() / 30 * torch.eye(3).double())
            )
            < EXACT
        )

    def test_shared_weights(self):
        """Two modules with one weight: the rows of both. A weight that an embedding has too is
        left alone."""
        a, b = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
        b.weight = a.weight
        model = nn.Sequential(a, nn.Tanh(), b).double()
        x = draw(3, 4)
        rows = torch.cat((x, a(x).tanh().detach()))
        A = rows.T @ rows / 6
        trip = RoundTrip(model)
        model(x).square().mean().backward()
        G = a.weight.grad.clone()
        trip.step()
        assert (
            error(a.weight.grad, G @ torch.linalg.inv(A + A.trace() / 40 * torch.eye(4).double()))
            < EXACT
        )

        tied = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 4), nn.Linear(4, 7, bias=False))
        tied[2].weight = tied[0].weight
        assert "shared with 0 (Embedding)" in repr(RoundTrip(tied))

    def test_attention_says_what_it_leaves_alone(self):
        model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        trip = RoundTrip(model)
        model(torch.randn(2, 3, 8)).square().mean().backward()
        trip.step()
        text = repr(trip)
        assert "self_attn.out_proj" in text and "without calling it" in text
        assert [layer.name for layer in trip._layers] == ["linear1", "linear2"]

    def test_parametrized_layers_are_left_alone(self):
        model = nn.Sequential(
            nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)), nn.Linear(3, 2)
        )
        assert "parametrized" in repr(RoundTrip(model))

    def test_inputs_that_are_not_finite_leave_the_gradient_alone(self):
        model = nn.Linear(3, 2)
        trip = RoundTrip(model)
        model(torch.full((4, 3), float("inf"))).sum().backward()
        trip.step()
        assert "not finite" in repr(trip)

    def test_inputs_that_are_zero_take_no_step(self):
        model = nn.Linear(3, 2, bias=False)
        trip = RoundTrip(model)
        model(torch.zeros(4, 3)).sum().backward()
        trip.step()
        assert torch.equal(model.weight.grad, torch.zeros(2, 3))


class TestSurroundings:
    @pytest.mark.parametrize(
        "make",
        [
            lambda p: torch.optim.SGD(p, 0.1),
            lambda p: torch.optim.SGD(p, 0.03, momentum=0.9),
            lambda p: torch.optim.Adam(p, 1e-2),
            lambda p: torch.optim.AdamW(p, 1e-2, fused=True),
        ],
    )
    def test_optimizers(self, make):
        model = mlp(6, 16, 3, dtype=torch.float32)
        x = torch.randn(20, 6)
        y = x[:, :3].argmax(1)
        trip, optimizer = RoundTrip(model), make(model.parameters())
        losses = []
        for _ in range(30):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            trip.step()
            optimizer.step()
            losses.append(loss.item())
        assert losses[-1] < 0.3 * losses[0]

    def test_autocast(self):
        """Statistics are float32, and the step is that of float32 to the precision of bfloat16."""
        model, x = mlp(20, 30, 5, dtype=torch.float32), torch.randn(16, 20)
        found = []
        for enabled in (False, True):
            model.zero_grad()
            with RoundTrip(model) as trip, torch.autocast("cpu", torch.bfloat16, enabled=enabled):
                loss = F.cross_entropy(model(x), torch.arange(16) % 5)
                loss.backward()
                assert all(u.H.dtype == torch.float32 for u in layer_uses(trip, 1))
                trip.step()
            found.append([p.grad.clone() for p in model.parameters()])
        assert all(g.dtype == torch.float32 for g in found[1])
        assert all(error(b, a) < 0.05 for a, b in zip(*found, strict=True))

    def test_bfloat16_parameters(self):
        model, x = mlp(20, 30, 5, dtype=torch.bfloat16), torch.randn(16, 20, dtype=torch.bfloat16)
        trip = RoundTrip(model)
        model(x).square().mean().backward()
        trip.step()
        assert all(
            p.grad.dtype == torch.bfloat16 and p.grad.isfinite().all() for p in model.parameters()
        )

    def test_channels_last(self):
        model, x = nn.Conv2d(3, 4, 3).double(), draw(2, 3, 5, 5)
        expected = expected_gradients(model, [model], [lambda: model(x).square().mean()], 0.1)
        model.to(memory_format=torch.channels_last)
        trip = RoundTrip(model)
        model(x.to(memory_format=torch.channels_last)).square().mean().backward()
        trip.step()
        assert error(model.weight.grad, expected[0][0]) < EXACT

    @pytest.mark.parametrize("backend", ["eager", "aot_eager"])
    @pytest.mark.parametrize("before", [True, False])
    def test_compiled_models(self, backend, before):
        torch._dynamo.reset()
        model, x, y = mlp(9, 8, 5), draw(4, 9), classes(4)
        expected = expected_gradients(
            model, linears(model), [lambda: F.cross_entropy(model(x), y)], 0.1
        )
        if before:
            trip = RoundTrip(model)
            compiled = torch.compile(model, backend=backend)
        else:
            compiled = torch.compile(model, backend=backend)
            trip = RoundTrip(compiled)
        for _ in range(2):
            model.zero_grad()
            F.cross_entropy(compiled(x), y).backward()
            trip.step()
            for module, (weight, bias) in zip(linears(model), expected, strict=True):
                assert error(module.weight.grad, weight) < EXACT
                assert error(module.bias.grad, bias) < EXACT

    def test_copies_of_the_model_are_not_recorded(self):
        model = mlp(9, 8, 5)
        trip = RoundTrip(model)
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            other(draw(4, 9)).sum().backward()
            assert not layer_uses(trip)
            RoundTrip(other)

    def test_context_manager_takes_the_hooks_off(self):
        model = mlp(9, 8, 5)
        with RoundTrip(model) as trip:
            pass
        model(draw(4, 9)).sum().backward()
        assert not layer_uses(trip) and not any(m._forward_hooks for m in model.modules())
        with pytest.raises(RuntimeError, match="after remove"):
            trip.step()

    def test_text_names_what_is_stepped_and_what_is_not(self):
        model = nn.Sequential(
            nn.Conv2d(4, 6, 3, groups=2), nn.BatchNorm2d(6), nn.Flatten(), nn.Linear(6, 5)
        )
        text = repr(RoundTrip(model))
        assert (
            "Conv2d, 2 groups" in text
            and "18 + 1" in text
            and "BatchNorm2d: not a linear layer" in text
        )
        assert "149 of 161 parameters" in text
