# SPDX-License-Identifier: MIT
"""RoundTrip against its definition, and every option of it."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest
import torch
from dense_reference import expected_gradients
from torch import nn
from torch.nn import functional as F

from symport.torch import RoundTrip

GOLDEN = Path(__file__).parents[3] / "tests" / "golden" / "closed_form.json"
EXACT = 1e-10  # relative, double precision


def error(found: torch.Tensor, expected: torch.Tensor) -> float:
    return ((found - expected).abs().max() / expected.abs().max()).item()


def check(
    model: nn.Module, modules: list[nn.Module], *losses, tolerance=EXACT, **options
) -> RoundTrip:
    """backward of all losses and one step, against dense matrices."""
    expected = expected_gradients(model, modules, list(losses), options.get("damping", 0.1))
    model.zero_grad()
    trip = RoundTrip(model, **options)
    for loss in losses:
        loss().backward()
    trip.step()
    for module, (weight, bias) in zip(modules, expected, strict=True):
        assert error(module.weight.grad, weight) < tolerance, module
        if bias is not None:
            assert error(module.bias.grad, bias) < tolerance, module
    trip.remove()
    return trip


def mlp(*widths: int, bias: bool = True, dtype: torch.dtype = torch.float64) -> nn.Sequential:
    layers: list[nn.Module] = []
    for a, b in zip(widths, widths[1:], strict=False):
        layers += [nn.Linear(a, b, bias=bias), nn.LeakyReLU(0.1)]
    return nn.Sequential(*layers[:-1]).to(dtype)


def linears(model: nn.Module) -> list[nn.Module]:
    return [
        m for m in model.modules() if isinstance(m, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d))
    ]


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


def classes(count: int) -> torch.Tensor:
    return torch.randint(0, 5, (count,))


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


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


def layer_uses(trip: RoundTrip, index: int = 0):
    return trip._layers[index].uses


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


class Lora(nn.Module):
    def __init__(self, inputs: int, outputs: int, rank: int):
        super().__init__()
        self.base = nn.Linear(inputs, outputs)
        self.base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(rank, inputs))
        self.lora_B = nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, x):
        return self.base(x) + x @ self.lora_A.T @ self.lora_B.T


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
        with pytest.raises(RuntimeError, match="no inputs that they come from"):
            trip.step()
        assert torch.equal(after, model.weight.grad)
