# SPDX-License-Identifier: MIT
"""RoundTrip(model, fused=True): the same steps, formed within backward()."""

from __future__ import annotations

import pytest
import torch
from dense_reference import expected_gradients
from round_trip_models import EXACT, check, classes, draw, error, layer_uses, linears, mlp
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from symport.torch import RoundTrip, _exchange


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


def white(model: nn.Module, loss) -> list[torch.Tensor]:
    """The gradients of all parameters after a step without fusion."""
    with RoundTrip(model) as trip:
        model.zero_grad()
        loss().backward()
        trip.step()
    found = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    return found


class TestSameSteps:
    @pytest.mark.parametrize("bias", [True, False])
    def test_as_dense_matrices_say(self, bias):
        """The last layer has fewer inputs than rows and is not fused."""
        model, x, y = mlp(40, 30, 6, 5, bias=bias), draw(10, 40), classes(10)
        trip = check(model, linears(model), lambda: F.cross_entropy(model(x), y), fused=True)
        assert "left alone" not in repr(trip)

    def test_tokens(self):
        model, x = mlp(40, 30, 5), draw(2, 4, 40)
        check(model, linears(model), lambda: model(x).square().mean(), fused=True)

    def test_backward_writes_the_white_direction_and_step_leaves_it(self):
        model, x, y = mlp(40, 30, 50), draw(10, 40), classes(10)
        expected = white(model, lambda: F.cross_entropy(model(x), y))
        trip = RoundTrip(model, fused=True)
        F.cross_entropy(model(x), y).backward()
        found = [p.grad.clone() for p in model.parameters()]
        assert all(error(a, b) < EXACT for a, b in zip(found, expected, strict=True))
        assert not layer_uses(trip)  # nothing is kept for step()
        trip.step()
        assert all(torch.equal(a, p.grad) for a, p in zip(found, model.parameters(), strict=True))

    def test_a_frozen_bias_is_not_an_input(self):
        model, x = nn.Linear(9, 5).double(), draw(4, 9)
        model.bias.requires_grad_(False)
        G = torch.autograd.grad(model(x).square().mean(), model.weight)[0]
        A = x.T @ x / 4
        trip = RoundTrip(model, fused=True)
        model(x).square().mean().backward()
        expected = G @ torch.linalg.inv(A + 0.1 * A.trace() / 4 * torch.eye(9).double())
        assert error(model.weight.grad, expected) < EXACT and model.bias.grad is None
        trip.step()

    def test_activations_in_place(self):
        model = nn.Sequential(nn.Linear(9, 8), nn.ReLU(inplace=True), nn.Linear(8, 7)).double()
        x = draw(4, 9)
        check(model, linears(model), lambda: model(x).square().mean(), fused=True)

    @pytest.mark.parametrize("reentrant", [False, True])
    def test_activation_checkpointing(self, reentrant):
        model, x, y = mlp(9, 8, 7), draw(4, 9).requires_grad_(), classes(4)
        expected = white(model, lambda: F.cross_entropy(model(x), y))
        trip = RoundTrip(model, fused=True)
        F.cross_entropy(checkpoint(model, x, use_reentrant=reentrant), y).backward()
        trip.step()
        for p, e in zip(model.parameters(), expected, strict=True):
            assert error(p.grad, e) < EXACT

    @pytest.mark.parametrize("backend", ["eager", "aot_eager"])
    def test_compiled_models(self, backend):
        torch._dynamo.reset()
        model, x, y = mlp(9, 8, 7), draw(4, 9), classes(4)
        expected = white(model, lambda: F.cross_entropy(model(x), y))
        trip = RoundTrip(model, fused=True)
        compiled = torch.compile(model, backend=backend)
        for _ in range(2):
            model.zero_grad()
            F.cross_entropy(compiled(x), y).backward()
            trip.step()
            for p, e in zip(model.parameters(), expected, strict=True):
                assert error(p.grad, e) < EXACT

    def test_gradients_of_the_input_and_hooks_of_the_module(self):
        model, x, seen = mlp(9, 8, 7), draw(4, 9).requires_grad_(), []
        model[0].register_full_backward_hook(lambda _, inputs, outputs: seen.append(inputs[0]))
        (plain,) = torch.autograd.grad(model(x).square().mean(), x)
        seen.clear()
        trip = RoundTrip(model, fused=True)
        model(x).square().mean().backward()
        trip.step()
        assert error(x.grad, plain) < EXACT and error(seen[0], plain) < EXACT

    def test_a_training_loop_ends_where_the_other_does(self):
        x = draw(12, 40)
        y = x[:, :5].argmax(1)
        ends = []
        for fused in (False, True):
            torch.manual_seed(0)
            model = mlp(40, 30, 5)
            optimizer = torch.optim.SGD(model.parameters(), 0.2, momentum=0.9)
            trip = RoundTrip(model, fused=fused)
            for _ in range(20):
                optimizer.zero_grad()
                F.cross_entropy(model(x), y).backward()
                trip.step()
                optimizer.step()
            ends.append(F.cross_entropy(model(x), y).item())
        assert abs(ends[1] / ends[0] - 1) < 1e-6 and ends[0] < 0.1


class TestWhereItDoesWithout:
    def test_autograd_grad_gives_gradients(self):
        model, x = mlp(9, 8, 7), draw(4, 9)
        plain = torch.autograd.grad(model(x).square().mean(), list(model.parameters()))
        trip = RoundTrip(model, fused=True)
        found = torch.autograd.grad(model(x).square().mean(), list(model.parameters()))
        assert all(error(a, b) < EXACT for a, b in zip(found, plain, strict=True))
        model(x).square().mean().backward(inputs=[model[0].bias])
        assert error(model[0].bias.grad, plain[1]) < EXACT
        with pytest.raises(RuntimeError, match="no gradients"):
            trip.step()

    def test_autocast(self):
        model, x = mlp(20, 30, 25, dtype=torch.float32), torch.randn(16, 20)
        found = []
        for fused in (False, True):
            model.zero_grad()
            with RoundTrip(model, fused=fused) as trip, torch.autocast("cpu", torch.bfloat16):
                model(x).square().mean().backward()
                assert layer_uses(trip)
                trip.step()
            found.append([p.grad.clone() for p in model.parameters()])
        assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))

    def test_bfloat16_and_more_rows_than_are_drawn(self):
        model = mlp(20, 30, dtype=torch.bfloat16)
        trip = RoundTrip(model, fused=True)
        model(torch.randn(4, 20, dtype=torch.bfloat16)).square().mean().backward()
        assert layer_uses(trip)
        trip.step()
        model = mlp(20, 30)
        trip = RoundTrip(model, fused=True, rows=3)
        model(draw(4, 20)).square().mean().backward()
        assert layer_uses(trip)
        trip.step()

    def test_several_ranks(self, monkeypatch):
        model = mlp(20, 30)
        trip = RoundTrip(model, fused=True)
        monkeypatch.setattr(_exchange, "world_size", lambda _: 2)
        model(draw(4, 20)).square().mean().backward()
        assert layer_uses(trip)

    def test_inputs_that_are_not_finite_leave_the_gradient_alone(self):
        model, x = nn.Linear(9, 2).double(), draw(4, 9)
        x[1, 2] = float("inf")
        plain = torch.autograd.grad(model(x).sum(), model.bias)[0]
        trip = RoundTrip(model, fused=True)
        model(x).sum().backward()
        trip.step()
        assert torch.equal(model.bias.grad, plain) and "not finite" in repr(trip)

    def test_evaluation_and_copies(self):
        model = mlp(9, 8)
        trip = RoundTrip(model, fused=True)
        with torch.no_grad():
            assert model(draw(4, 9)).grad_fn is None
        model(draw(4, 9))  # no backward
        model(draw(4, 9)).sum().backward()
        trip.step()
        trip.remove()
        model.zero_grad()
        plain = torch.autograd.grad(model(torch.ones(4, 9).double()).sum(), model[0].weight)[0]
        assert torch.equal(plain, torch.full_like(plain, 4.0))


class TestRefusals:
    def test_running_means(self):
        with pytest.raises(ValueError, match="fused: found kernel='average'"):
            RoundTrip(nn.Linear(3, 2), kernel="average", fused=True)

    def test_accumulation(self):
        model = mlp(9, 8)
        trip = RoundTrip(model, fused=True)
        model(draw(4, 9)).sum().backward()
        with pytest.raises(RuntimeError, match="^0: a second backward.* to accumulate"):
            model(draw(4, 9)).sum().backward()
        model.zero_grad()  # forgets the first one
        model(draw(4, 9)).sum().backward()
        trip.step()

    def test_layers_called_several_times(self):
        model = nn.Linear(8, 8).double()
        RoundTrip(model, fused=True)
        with pytest.raises(RuntimeError, match="called several times in a forward pass"):
            model(model(draw(4, 8)).tanh()).sum().backward()

    def test_calls_of_which_some_are_not_fused(self):
        model = nn.Linear(8, 3).double()
        trip = RoundTrip(model, fused=True)
        (model(draw(4, 8)).sum() + model(draw(20, 8)).sum()).backward()
        with pytest.raises(RuntimeError, match="some of its calls were fused"):
            trip.step()

    def test_steps_at_the_wrong_time(self):
        model = mlp(9, 8)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        trip = RoundTrip(model, fused=True)
        model(draw(4, 9)).sum().backward()
        trip.step()
        with pytest.raises(RuntimeError, match="no inputs that they come from"):
            trip.step()
        optimizer.zero_grad()
        model(draw(4, 9)).sum().backward()
        optimizer.step()
        with pytest.raises(RuntimeError, match="before optimizer.step"):
            trip.step()

    def test_second_derivatives(self):
        model, x = mlp(9, 8), draw(4, 9).requires_grad_()
        RoundTrip(model, fused=True)
        (along,) = torch.autograd.grad(model(x).square().sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match="once_differentiable"):
            along.square().sum().backward()


def test_the_reference_is_not_the_plain_gradient():
    """What the tests above compare with differs from gradients by more than they allow."""
    model, x = mlp(9, 8, 7), draw(4, 9)
    losses = [lambda: model(x).square().mean()]
    expected = expected_gradients(model, linears(model), losses, 0.1)
    losses[0]().backward()
    assert error(model[0].weight.grad, expected[0][0]) > 0.1
