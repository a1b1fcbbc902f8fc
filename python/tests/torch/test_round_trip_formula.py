# SPDX-License-Identifier: MIT
"""RoundTrip's kernels against their definition: whole batches, sampled rows, running means."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
import torch
from dense_reference import expected_gradients
from round_trip_models import EXACT, check, classes, draw, error, layer_uses, linears, mlp
from torch import nn
from torch.nn import functional as F

from symport.torch import RoundTrip

GOLDEN = Path(__file__).parents[3] / "tests" / "golden" / "closed_form.json"


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


class TestFormula:
    @pytest.mark.parametrize("bias", [True, False])
    @pytest.mark.parametrize("count", [1, 4, 7, 8, 9, 40])
    @pytest.mark.parametrize("damping", [1e-3, 0.1, 1])
    def test_linear_layers_with_fewer_and_more_rows_than_inputs(self, bias, count, damping):
        model, x, y = mlp(7, 8, 5, bias=bias), draw(count, 7), classes(count)
        check(model, linears(model), lambda: F.cross_entropy(model(x), y), damping=damping)

    @pytest.mark.parametrize("scale", [1, 0.37])
    def test_a_scaled_gradient_gives_a_scaled_step(self, scale):
        model, x, y = mlp(9, 8, 5), draw(4, 9), classes(4)
        check(model, linears(model), lambda: scale * F.cross_entropy(model(x), y))

    def test_a_gradient_that_the_rows_do_not_explain(self):
        """Weight decay in the loss: fewer rows than inputs, and the gradient is not in their
        span."""
        model, x, y = mlp(9, 8, 5), draw(4, 9), classes(4)
        decay = lambda: sum(p.square().sum() for p in model.parameters())  # noqa: E731
        check(model, linears(model), lambda: F.cross_entropy(model(x), y) + 0.01 * decay())

    def test_tokens(self):
        model, x = mlp(6, 8, 5), draw(2, 3, 6)
        check(model, linears(model), lambda: model(x).square().mean())

    def test_a_layer_that_is_used_several_times(self):
        model, x = nn.Linear(6, 6).double(), draw(2, 6)
        check(model, [model], lambda: model(model(model(x)).tanh()).square().mean())

    def test_gradient_accumulation_counts_the_rows_of_all_micro_batches(self):
        model = mlp(9, 8, 5)
        parts = [(draw(n, 9), classes(n)) for n in (2, 5, 3)]
        losses = [lambda x=x, y=y: F.cross_entropy(model(x), y) / 3 for x, y in parts]
        check(model, linears(model), *losses)

    @pytest.mark.parametrize("groups", [1, 2])
    @pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
    @pytest.mark.parametrize(
        "stride, padding, dilation", [(1, 0, 1), (2, 1, 1), (1, 2, 2), (3, 1, 2)]
    )
    def test_convolutions(self, groups, mode, stride, padding, dilation):
        layer = nn.Conv2d(
            4, 6, (3, 2), stride, padding, dilation, groups, padding_mode=mode
        ).double()
        x = draw(2, 4, 6, 5)
        check(layer, [layer], lambda: layer(x).square().mean(), rows=None)

    @pytest.mark.parametrize("padding", ["same", "valid"])
    def test_padding_by_name(self, padding):
        layer = nn.Conv1d(3, 4, 4, padding=padding, dilation=2, bias=False).double()
        x = draw(2, 3, 9)
        check(layer, [layer], lambda: layer(x).square().mean())

    def test_depthwise_unbatched_and_three_dimensional(self):
        for layer, x in (
            (nn.Conv1d(3, 6, 3, groups=3), draw(2, 3, 9)),
            (nn.Conv2d(3, 2, 2), draw(3, 5, 4)),
            (nn.Conv3d(2, 3, 2, stride=2, padding=1), draw(2, 2, 3, 4, 3)),
        ):
            layer.double()
            check(layer, [layer], lambda layer=layer, x=x: layer(x).square().mean())

    def test_a_small_convolutional_network(self):
        model = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3),
            nn.ReLU(), nn.Flatten(), nn.Linear(24, 5),
        ).double()  # fmt: skip
        x, y = draw(3, 1, 8, 8), classes(3)
        check(model, linears(model), lambda: F.cross_entropy(model(x), y))

    def test_transposed_convolutions_step_their_weights(self):
        layer = nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2).double()
        x = draw(2, 4, 3, 3)
        gradient, bias = torch.autograd.grad(layer(x).square().mean(), [layer.weight, layer.bias])
        expected = []
        pixels = x.movedim(1, -1).reshape(-1, 2, 2)
        A = torch.einsum("ngi,ngj->gij", pixels, pixels) / len(pixels)
        for g in range(2):
            G = gradient[2 * g : 2 * g + 2].reshape(2, -1)
            damping = 0.1 * A[g].trace() / 2
            expected.append(torch.linalg.solve(A[g] + damping * torch.eye(2).double(), G))
        trip = RoundTrip(layer)
        layer(x).square().mean().backward()
        trip.step()
        assert error(layer.weight.grad, torch.cat(expected).reshape(layer.weight.shape)) < EXACT
        assert torch.equal(layer.bias.grad, bias)
        assert "bias" in repr(trip) and "once an output" in repr(trip)

    def test_linear_layers_with_weights_the_other_way_around(self):
        Conv1D = type("Conv1D", (nn.Module,), {
            "__module__": "transformers.pytorch_utils",
            "forward": lambda self, x: x @ self.weight + self.bias,
        })  # fmt: skip
        layer, twin = Conv1D(), nn.Linear(5, 3).double()
        layer.weight = nn.Parameter(twin.weight.detach().T.clone())
        layer.bias = nn.Parameter(twin.bias.detach().clone())
        x = draw(4, 5)
        for module in (layer, twin):
            trip = RoundTrip(module)
            module(x).square().mean().backward()
            trip.step()
        assert error(layer.weight.grad.T, twin.weight.grad) < EXACT
        assert error(layer.bias.grad, twin.bias.grad) < EXACT

    @pytest.mark.parametrize("case", range(5))
    def test_the_weights_of_the_golden_file(self, case):
        """One step at rate theta ends at the weights that the C++ library's tests expect."""
        case = json.loads(GOLDEN.read_text())["cases"][case]
        X = torch.tensor(case["X"], dtype=torch.float64).T
        widths = [len(case["W"][0][0])] + [len(w) for w in case["W"]]
        model = mlp(*widths, bias=case["b"] is not None)
        for i, module in enumerate(linears(model)):
            module.weight.data = torch.tensor(case["W"][i], dtype=torch.float64)
            if case["b"] is not None:
                module.bias.data = torch.tensor(case["b"][i], dtype=torch.float64).flatten()
        trip = RoundTrip(model, damping=case["round_trip"]["damping"])
        if case["loss"] == "squares":
            Y = torch.tensor(case["Y"], dtype=torch.float64).T
            loss = (model(X) - Y).square().sum() / 2 / len(X)
        else:
            loss = F.cross_entropy(model(X), torch.tensor(case["Y"]))
        loss.backward()
        trip.step()
        torch.optim.SGD(model.parameters(), case["round_trip"]["theta"]).step()
        for i, module in enumerate(linears(model)):
            weight = torch.tensor(case["round_trip"]["W"][i], dtype=torch.float64)
            assert error(module.weight.detach(), weight) < 1e-9
            if case["b"] is not None:
                bias = torch.tensor(case["round_trip"]["b"][i], dtype=torch.float64).flatten()
                assert error(module.bias.detach(), bias) < 1e-9

    def test_float_agrees_with_double(self):
        for count in (40, 200):
            model, x, y = mlp(100, 80, 5), draw(count, 100), classes(count)
            single = copy.deepcopy(model).float()
            found = []
            for m, data in ((model, x), (single, x.float())):
                trip = RoundTrip(m)
                F.cross_entropy(m(data), y).backward()
                trip.step()
                found.append([p.grad.double() for p in m.parameters()])
            assert all(error(b, a) < 1e-4 for a, b in zip(*found, strict=True))


class TestRows:
    def test_a_sample_of_the_rows_estimates_all_of_them(self):
        layer, x = nn.Linear(6, 4, bias=False, dtype=torch.float64), draw(4000, 6) @ draw(6, 6)
        trip = RoundTrip(layer, rows=1000)
        layer(x).square().mean().backward()
        A = x.T @ x / len(x)
        expected = layer.weight.grad @ torch.linalg.inv(A + A.trace() / 60 * torch.eye(6).double())
        trip.step()
        assert 1e-6 < error(layer.weight.grad, expected) < 0.2

    def test_choice_is_spread_over_all_rows_and_repeats_with_the_seed(self):
        trip = RoundTrip(nn.Linear(3, 2), rows=10)
        first = trip._choose(1000)
        assert torch.equal(first // 100, torch.arange(10))
        assert torch.equal(first, trip._choose(1000))  # every layer of a step
        trip._chosen.clear()
        assert not torch.equal(first, trip._choose(1000))
        again = RoundTrip(nn.Linear(3, 2), rows=10)
        assert torch.equal(first, again._choose(1000))
        assert not torch.equal(first, RoundTrip(nn.Linear(3, 2), rows=10, seed=1)._choose(1000))
        assert trip._choose(10) is None

    def test_the_global_random_numbers_are_not_used(self):
        layer, x = nn.Linear(3, 2), torch.randn(50, 3)
        trip = RoundTrip(layer, rows=5)
        before = torch.get_rng_state()
        layer(x).square().mean().backward()
        trip.step()
        assert torch.equal(before, torch.get_rng_state())

    def test_uses_of_unequal_length_count_by_their_rows(self):
        """120 rows of one kind and 20 of another: with 20 of each kept, the mean is that of all."""
        layer = nn.Linear(2, 1, bias=False, dtype=torch.float64)
        long, short = torch.zeros(120, 2).double(), torch.zeros(20, 2).double()
        long[:, 0], short[:, 1] = 1, 1
        expected = expected_gradients(
            layer, [layer], [lambda: (layer(long).sum() + layer(short).sum()) / 140], 0.1
        )
        trip = RoundTrip(layer, rows=20)
        ((layer(long).sum() + layer(short).sum()) / 140).backward()
        (use, other) = layer_uses(trip)
        assert use.H.shape[1] == other.H.shape[1] == 20
        trip.rows = 40
        trip.step()
        assert error(layer.weight.grad, expected[0][0]) < EXACT

    def test_many_micro_batches_do_not_exceed_the_rows(self):
        layer = nn.Linear(3, 2)
        trip = RoundTrip(layer, rows=20)
        for _ in range(5):
            layer(torch.randn(15, 3)).square().mean().backward()
        rows, total = trip._layers[0].take(trip._choose)
        assert (rows.count, total) == (20, 75)


class TestRunningAverage:
    def test_first_step_is_that_of_the_batch(self):
        model, x, y = mlp(9, 8, 5), draw(4, 9), classes(4)
        check(model, linears(model), lambda: F.cross_entropy(model(x), y), kernel="average")

    def test_later_steps_use_the_mean_and_refresh_the_inverse(self):
        layer = nn.Linear(3, 2, bias=False, dtype=torch.float64)
        trip = RoundTrip(layer, damping=0.5, kernel="average", refresh=3)
        A, weight, inverse = torch.zeros(3, 3).double(), 0.0, None
        for step in range(7):
            x = draw(8, 3)
            loss = layer(x).square().mean()
            (G,) = torch.autograd.grad(loss, layer.weight, retain_graph=True)
            A = 0.95 * A + 0.05 * x.T @ x / 8
            weight = 0.95 * weight + 0.05
            if step % 3 == 0:
                mean = A / weight
                inverse = torch.linalg.inv(mean + 0.5 * mean.trace() / 3 * torch.eye(3).double())
            share = torch.linalg.eigvals(inverse @ x.T @ x / 8).real.max()
            layer.weight.grad = None
            loss.backward()
            trip.step()
            assert error(layer.weight.grad, G @ inverse / max(1, share)) < 1e-3, step
            if share < 0.9:
                assert error(layer.weight.grad, G @ inverse) < EXACT

    def test_resumed_with_the_same_bits(self, tmp_path):
        for kernel, rows in (("average", 256), ("batch", 5)):
            batches = [torch.randn(12, 6) for _ in range(8)]

            def advance(model, trip, optimizer, batches):
                for x in batches:
                    optimizer.zero_grad()
                    model(x).square().mean().backward()
                    trip.step()
                    optimizer.step()

            model = mlp(6, 7, 3, dtype=torch.float32)
            trip = RoundTrip(model, kernel=kernel, refresh=3, rows=rows)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            advance(model, trip, optimizer, batches[:4])
            torch.save({"model": model.state_dict(), "trip": trip.state_dict()}, tmp_path / "c.pt")
            advance(model, trip, optimizer, batches[4:])

            saved = torch.load(tmp_path / "c.pt", weights_only=True)
            again = mlp(6, 7, 3, dtype=torch.float32)
            again.load_state_dict(saved["model"])
            other = RoundTrip(again, kernel=kernel, refresh=3, rows=rows, seed=9)
            other.load_state_dict(saved["trip"])
            advance(again, other, torch.optim.SGD(again.parameters(), 0.1), batches[4:])
            for a, b in zip(model.parameters(), again.parameters(), strict=True):
                assert torch.equal(a, b)

    def test_a_state_of_another_model_is_refused(self):
        trip = RoundTrip(mlp(6, 7, 3), kernel="average")
        trip._model(draw(4, 6)).square().mean().backward()
        trip.step()
        state = trip.state_dict()
        with pytest.raises(ValueError, match="kernel='average'"):
            RoundTrip(mlp(6, 7, 3)).load_state_dict(state)
        with pytest.raises(ValueError, match=r"expected \(1, 6, 6\)"):
            RoundTrip(mlp(5, 7, 3), kernel="average").load_state_dict(state)
        with pytest.raises(ValueError, match="does not have"):
            RoundTrip(nn.Linear(6, 7), kernel="average").load_state_dict(state)
        with pytest.raises(ValueError, match="'steps'"):
            trip.load_state_dict({"version": 1, "kernel": "average"})
