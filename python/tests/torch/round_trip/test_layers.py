# SPDX-License-Identifier: MIT
"""What is stepped in a gauge: layers, convolutions, attention, experts, pairs; and what is not."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from symport.torch import RoundTrip
from symport.torch.round_trip import gauge
from symport.torch.round_trip.source import Inputs


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


def trip(model, **options):
    options = {"power": 0.5, "rows": None, **options}
    return RoundTrip(model, torch.optim.SGD(model.parameters(), 0.1), **options)


def sources(optimizer) -> dict[str, Inputs]:
    return {m.name: m.source for m in optimizer._matrices() if m.source is not None}


def error(found, expected) -> float:
    return ((found - expected).norm() / expected.norm()).item()


def moment_of(optimizer, name: str) -> torch.Tensor:
    """A, before the first step."""
    A, _ = sources(optimizer)[name].statistics()
    return A


# The rows of every kind of layer against the product that the layer makes of them.


@pytest.mark.parametrize(
    "layer, shape",
    [
        (nn.Linear(5, 3), (4, 7, 5)),
        (nn.Conv1d(4, 6, 3, padding=2, stride=2), (3, 4, 11)),
        (nn.Conv2d(4, 6, (3, 2), padding=(1, 2), stride=(2, 1), dilation=2), (3, 4, 9, 8)),
        (nn.Conv2d(4, 6, 3, groups=2), (3, 4, 9, 8)),
        (nn.Conv2d(4, 6, 3, padding="same", padding_mode="circular"), (3, 4, 9, 8)),
        (nn.Conv2d(4, 6, 3), (4, 9, 8)),
        (nn.Conv3d(2, 3, 2), (2, 2, 4, 5, 3)),
        (nn.ConvTranspose2d(4, 6, 3, groups=2, stride=2), (3, 4, 5, 6)),
    ],
)
def test_rows_are_what_the_weight_is_multiplied_with(layer, shape):
    """The gradient of sum(c * outputs^2)/2 ... is linear in the weight: dL/dW = delta H, and for
    delta = W H it is W H'H = W times the moment. So the moment is seen from outside."""
    layer = layer.double()
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    x = torch.randn(*shape).double()
    optimizer = trip(layer)
    (layer(x).square().sum() / 2).backward()
    (source,) = sources(optimizer).values()
    (m,) = optimizer._matrices()
    expected = m.of(layer.weight.grad)
    if isinstance(layer, nn.ConvTranspose2d):
        # Outputs of a transposed convolution overlap, so rows are counted apart from them.
        H = x.movedim(1, -1).reshape(-1, 2, 2).transpose(0, 1)
        assert error(source.S[:, 0, :-1, :-1], H.mT @ H) < 1e-12
    else:
        assert error(m.of(layer.weight) @ source.S[:, 0, :-1, :-1], expected) < 1e-12


def test_rows_of_convolutions_are_chosen_from_all_patches():
    layer, x = nn.Conv2d(3, 4, 3), torch.randn(5, 3, 12, 12)
    optimizer = trip(layer, rows=64)
    layer(x).sum().backward()
    (source,) = sources(optimizer).values()
    assert 50 <= source.S[0, 0, -1, -1].item() <= 64
    patches = F.unfold(x, 3).mT.reshape(-1, 27)
    distances = torch.cdist(source.S[0, :, :-1, :-1].diagonal(dim1=-2, dim2=-1), patches.square())
    assert distances.isfinite().all()


def test_wide_inputs_are_divided_into_blocks_of_the_width():
    assert gauge.blocks(768, 3072) == (4, 768)
    assert gauge.blocks(768, 768) == (1, 768)
    assert gauge.blocks(64, 256) == (1, 256)
    assert gauge.blocks(10, 1100) == (3, 367)
    X, k, s = torch.randn(2, 5, 1100).double(), 3, 367
    g = torch.eye(s).double().expand(2, k, s, s) * torch.tensor([1.0, 2.0, 3.0])[:, None, None]
    found = gauge.times(X, g)
    assert torch.equal(found[..., :367], X[..., :367])
    assert torch.equal(found[..., 734:], 3 * X[..., 734:])


def test_a_step_in_blocks_is_that_of_each_block(monkeypatch):
    monkeypatch.setattr(gauge, "BLOCK", 3)
    torch.manual_seed(0)
    layer = nn.Linear(8, 3, bias=False).double()
    x, W = torch.randn(50, 8).double(), layer.weight.detach().clone()
    optimizer = trip(layer, length="metric")
    layer(x).square().mean().backward()
    G = layer.weight.grad.clone()
    optimizer.step()
    expected = torch.zeros_like(W)
    for block in (slice(0, 3), slice(3, 6), slice(6, 8)):
        H = x[:, block]
        A, d = H.T @ H / 50, 3
        ridge = (0.1 + d / 50) * A.trace() / d
        expected[:, block] = G[:, block] @ torch.linalg.inv(A + ridge * torch.eye(len(A)).double())
    assert error(layer.weight - W, -0.1 * expected) < 1e-12


# Sharing.


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 4), nn.Linear(8, 4)
        self.out = nn.Linear(4, 8)

    def forward(self, x):
        x = self.norm(x)
        return self.out(self.v(x) * self.k(x) + self.q(x).sum(-1, keepdim=True))


def test_layers_with_the_same_input_share_a_gauge():
    model = Attention()
    optimizer = trip(model)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(6, 8)).sum().backward()
        optimizer.step()
    found = sources(optimizer)
    assert found["q.weight"] is found["k.weight"] is found["v.weight"]
    assert found["out.weight"] is not found["q.weight"]
    assert found["q.weight"].S[0, 0, -1, -1].item() == pytest.approx(6 * 1.95)


def test_a_frozen_layer_does_not_hide_the_input_that_it_shares():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x):
            return self.a(x) + self.b(x)

    for freeze, call in ((True, "all"), (False, "b")):
        model = nn.Sequential(nn.Linear(4, 4), Two())
        optimizer = trip(model, power=0.5)
        model(torch.randn(5, 4)).sum().backward()
        optimizer.step()
        (source,) = {id(s): s for n, s in sources(optimizer).items() if n != "0.weight"}.values()
        before = source.S[..., -1, -1].item()
        model[1].a.requires_grad_(not freeze)
        x = torch.randn(5, 4)
        (model(x) if call == "all" else model[1].b(model[0](x))).sum().backward()
        assert source.S[..., -1, -1].item() == pytest.approx(0.95 * before + 5)


def test_inputs_that_were_changed_in_between_are_not_shared():
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    optimizer = trip(nn.ModuleList([first, second]))
    x = torch.randn(6, 4)
    first(x)
    x.mul_(2)
    second(x)
    found = sources(optimizer)
    assert found["0.weight"] is not found["1.weight"]


# Attention and experts.


@pytest.mark.parametrize("batch_first", [True, False])
def test_multihead_attention(batch_first):
    layer = nn.MultiheadAttention(8, 2, batch_first=batch_first).double()
    x = torch.randn(5, 6, 8).double()
    optimizer = trip(layer)
    layer(x, x, x)[0].square().mean().backward()
    A = torch.einsum("abi,abj->ij", x, x) / 30
    found = moment_of(optimizer, "in_proj_weight")
    assert all(error(found[i, 0], A) < 1e-12 for i in range(3))
    assert moment_of(optimizer, "out_proj.weight").shape == (1, 1, 8, 8)
    optimizer.step()
    assert set(optimizer.stepped) == {"in_proj_weight", "out_proj.weight"}


def test_attention_of_other_keys_and_values():
    layer = nn.MultiheadAttention(8, 2, batch_first=True).double()
    x, y = torch.randn(5, 6, 8).double(), torch.randn(5, 9, 8).double()
    optimizer = trip(layer)
    layer(x, y, y)[0].square().mean().backward()
    found = moment_of(optimizer, "in_proj_weight")
    for i, rows in enumerate((x, y, y)):
        rows = rows.flatten(0, 1)
        assert error(found[i, 0], rows.T @ rows / len(rows)) < 1e-12


class Experts(nn.Module):
    """Each row goes to one expert; `way` is how the product is written."""

    def __init__(self, way: str):
        super().__init__()
        self.way = way
        self.weight = nn.Parameter(torch.randn(3, 4, 6) / 2)
        self.back = nn.Parameter(torch.randn(3, 4, 6) / 2)

    def forward(self, x):
        parts = x.chunk(3)
        if self.way == "linear":
            h = [F.linear(p, self.weight[i]).tanh() for i, p in enumerate(parts)]
            return torch.cat([p @ self.back[i] for i, p in enumerate(h)])
        x = torch.stack(parts)
        h = torch.bmm(x, self.weight.mT).tanh()
        return (h @ self.back if self.way == "matmul" else torch.bmm(h, self.back)).flatten(0, 1)


@pytest.mark.parametrize("way", ["linear", "bmm", "matmul"])
def test_experts_have_a_gauge_each(way):
    model = nn.Sequential(nn.Linear(6, 6), Experts(way)).double()
    x = torch.randn(12, 6).double()
    optimizer = trip(model)
    model(x).square().mean().backward()
    h = model[0](x).detach()
    found = moment_of(optimizer, "1.weight")
    for i, rows in enumerate(h.chunk(3)):
        assert error(found[i, 0], rows.T @ rows / 4) < 1e-12
    assert moment_of(optimizer, "1.back").shape == (3, 1, 4, 4)
    optimizer.step()
    assert {"1.weight", "1.back"} <= set(optimizer.stepped)


def test_an_expert_that_is_not_used_steps_as_without_a_gauge():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2, 3, 5))

        def forward(self, x):
            return F.linear(x, self.weight[0])

    model = Two()
    optimizer = trip(model)
    model(torch.randn(8, 5)).square().mean().backward()
    optimizer.step()
    assert torch.equal(model.weight[1], torch.ones(3, 5)) and model.weight.isfinite().all()


# Pairs.


class Lora(nn.Module):
    def __init__(self, inputs=12, outputs=9, rank=3):
        super().__init__()
        self.base = nn.Linear(inputs, outputs).requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(rank, inputs))
        self.lora_B = nn.Parameter(torch.randn(outputs, rank))

    def forward(self, x):
        return self.base(x) + x @ self.lora_A.T @ self.lora_B.T


def test_the_factors_of_a_pair_step_in_the_gauge_of_the_other():
    """Metric form, gradient descent: (B'B)^-1 G_A and G_B (A A')^-1."""
    model = Lora().double()
    optimizer = trip(model, length="metric", damping=0.0)
    model(torch.randn(20, 12).double()).square().mean().backward()
    A, B = model.lora_A.detach().clone(), model.lora_B.detach().clone()
    optimizer.step()
    found = model.lora_A - A, model.lora_B - B
    assert error(found[0], -0.1 * torch.linalg.inv(B.T @ B) @ model.lora_A.grad) < 1e-10
    assert error(found[1], -0.1 * model.lora_B.grad @ torch.linalg.inv(A @ A.T)) < 1e-10


def test_training_does_not_depend_on_the_gauge_of_a_pair():
    x, y = torch.randn(40, 12).double(), torch.randn(40, 9).double()
    products = []
    change = torch.randn(3, 3).double()
    for g in (torch.eye(3).double(), change):
        torch.manual_seed(1)
        model = Lora().double()
        with torch.no_grad():
            model.lora_A.copy_(g @ model.lora_A)
            model.lora_B.copy_(model.lora_B @ torch.linalg.inv(g))
        inner = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
        optimizer = RoundTrip(model, inner, power=0.5, length="metric", damping=0.0)
        for _ in range(10):
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
        products.append(model.lora_B.detach() @ model.lora_A.detach())
    assert error(products[1], products[0]) < 1e-9


def test_a_factor_of_zeros_and_named_pairs():
    model = Lora()
    with torch.no_grad():
        model.lora_B.zero_()
    optimizer = trip(model)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(20, 12)).square().mean().backward()
        optimizer.step()
    assert model.lora_A.isfinite().all() and model.lora_B.abs().max() > 0

    class Product(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Parameter(torch.randn(2, 5)), nn.Parameter(torch.randn(4, 2))

        def forward(self, x):
            return x @ self.a.T @ self.b.T

    model = Product()
    assert "not the weight of a layer" in trip(model).skipped["a"]
    optimizer = trip(model, pairs=[("a", "b")])
    model(torch.randn(9, 5)).sum().backward()
    optimizer.step()
    assert list(optimizer.stepped) == ["a", "b"]
    with pytest.raises(ValueError, match="factor of two products"):
        trip(model, pairs=[("a", "b"), ("a", "b")])


# What is left alone.


class Scaled(nn.Linear):
    def forward(self, x):
        return super().forward(x / 16)


class Masked(nn.Conv2d):
    def forward(self, x):
        return self._conv_forward(x, self.weight * (self.weight > 0), self.bias)


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 5))

    def forward(self, x):
        return F.linear(x, self.weight)


def test_reasons_to_leave_a_parameter_alone():
    tied = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 7, bias=False))
    tied[1].weight = tied[0].weight
    a, b = nn.Linear(4, 4), nn.Linear(4, 4)
    b.weight = a.weight
    for model, name, reason in (
        (Scaled(4, 3), "weight", "Scaled has a forward() other than Linear's"),
        (Masked(4, 3, 2), "weight", "Masked has a forward() other than Conv2d's"),
        (Functional(), "weight", "Functional: not the weight of a layer"),
        (nn.Bilinear(3, 4, 2), "weight", "not multiplied so far"),
        (nn.LSTM(3, 4), "weight_ih_l0", "its steps in time are not seen"),
        (tied, "0.weight", "an embedding: its inputs are indices, the weight of 1.weight too"),
        (nn.Sequential(a, b), "0.weight", "tied, the weight of 1.weight too"),
        (
            nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)),
            "parametrizations.weight.original1",
            "",
        ),
        (nn.Linear(3, 3).requires_grad_(False), "weight", "frozen"),
        (nn.Linear(3, 3), "weight", "its forward was not called so far"),
    ):
        optimizer = RoundTrip(model, torch.optim.SGD(model.parameters(), 0.1))
        assert name in optimizer.skipped and reason in optimizer.skipped[name], name
        assert not optimizer.stepped


def test_what_is_left_alone_steps_to_the_bit_as_without_symport():
    for make in (lambda: Scaled(4, 3), lambda: Functional(), lambda: nn.LSTM(4, 3)):
        found = []
        for wrap in (False, True):
            torch.manual_seed(1)
            model = make()
            optimizer = torch.optim.AdamW(model.parameters(), 0.1)
            if wrap:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    optimizer = RoundTrip(model, optimizer, power=0.5)
            for _ in range(3):
                optimizer.zero_grad()
                out = model(torch.ones(7, 5 if isinstance(model, Functional) else 4))
                (out[0] if isinstance(out, tuple) else out).square().mean().backward()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    optimizer.step()
            found.append([p.detach() for p in model.parameters()])
        assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def test_names_and_patterns_are_excluded():
    model = nn.ModuleDict({"body": nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))})
    model["head"] = nn.Linear(4, 2)
    optimizer = trip(model, exclude=["head", "body.1.*"])
    assert {n for n, why in optimizer.skipped.items() if why == "excluded"} == {
        "head.weight",
        "body.1.weight",
    }


def test_raw_inputs_have_a_power_of_their_own():
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = RoundTrip(model, torch.optim.SGD(model.parameters(), 0.1), power=(0.5, 0.25))
    model(torch.randn(5, 4)).sum().backward()
    assert [s.power for s in sources(optimizer).values()] == [0.25, 0.5]
    optimizer = RoundTrip(model, torch.optim.SGD(model.parameters(), 0.1), power=(0.5, 0.0))
    model(torch.randn(5, 4)).sum().backward()
    optimizer.step()
    assert list(optimizer.stepped) == ["2.weight"]
    assert "power is 0" in optimizer.skipped["0.weight"]


def test_low_coverage_warns_once():
    model = nn.Sequential(nn.Linear(4, 4), Scaled(4, 100))
    optimizer = trip(model)
    model(torch.randn(5, 4)).sum().backward()
    with pytest.warns(UserWarning, match=r"16 parameters in a gauge.*with 400.*1.weight \(Scaled"):
        optimizer.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
