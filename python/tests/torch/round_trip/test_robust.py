# SPDX-License-Identifier: MIT
"""Round trips where users are: several passes, compiled and mixed-precision models, padding, values
that are not finite, models that change under the optimizer."""

from __future__ import annotations

import copy
import gc
import pickle

import pytest
import torch
from test_layers import sources, trip
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from symport.torch import RoundTrip


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


def network(dtype=torch.float32) -> nn.Sequential:
    torch.manual_seed(0)
    layers = nn.Linear(6, 9), nn.Tanh(), nn.Linear(9, 8), nn.Tanh(), nn.Linear(8, 3)
    return nn.Sequential(*layers).to(dtype)


X = torch.randn(30, 6, generator=torch.Generator().manual_seed(1))
Y = X[:, :3].argmax(1)


def backward(model, x=X, y=Y):
    F.cross_entropy(model(x), y).backward()


def weights(model):
    return [p.detach().clone() for p in model.parameters()]


def close(a, b, tolerance=1e-5):
    return all((x - y).abs().max() <= tolerance * y.abs().max() for x, y in zip(a, b, strict=True))


# Passes.


def test_passes_without_gradients_do_not_count():
    model = network()
    optimizer = trip(model)
    with torch.no_grad():
        model(X)
    with torch.inference_mode():
        model(X)
    model.requires_grad_(False)(X)
    assert not sources(optimizer)


def test_accumulated_batches_are_one_batch():
    found = []
    for parts in (1, 3):
        model = network(torch.float64)
        optimizer = trip(model)
        for _ in range(3):
            optimizer.zero_grad()
            for x, y in zip(X.double().chunk(parts), Y.chunk(parts), strict=True):
                (F.cross_entropy(model(x), y) / parts).backward()
            optimizer.step()
        found.append(weights(model))
    assert close(found[1], found[0], 1e-12)


def test_nothing_is_kept_of_passes_that_no_step_follows():
    """Adversarial examples, gradient penalties: torch.autograd.grad() without backward()."""
    model = network()
    optimizer = trip(model)
    kept = []
    for _ in range(5):
        x = X.clone().requires_grad_()
        torch.autograd.grad(F.cross_entropy(model(x), Y), x)
        model(X)
        gc.collect()
        kept.append(sum(isinstance(o, torch.Tensor) for o in gc.get_objects()))
    assert kept[-1] <= kept[1]
    backward(model)
    optimizer.step()


@pytest.mark.parametrize("to_none", [True, False])
def test_gradients_that_were_dropped(to_none):
    model = network()
    optimizer = trip(model)
    backward(model)
    optimizer.zero_grad(set_to_none=to_none)
    before = weights(model)
    optimizer.step()
    assert close(weights(model), before, 0)


@pytest.mark.parametrize("reentrant", [False, True])
def test_activation_checkpointing(reentrant):
    from torch.utils.checkpoint import checkpoint

    found = []
    for checkpointed in (False, True):
        model = network(torch.float64)
        optimizer = trip(model)
        x = X.double().requires_grad_()
        for _ in range(3):
            optimizer.zero_grad()
            out = checkpoint(model, x, use_reentrant=reentrant) if checkpointed else model(x)
            F.cross_entropy(out, Y).backward()
            optimizer.step()
        found.append(weights(model))
    # Rows that were seen twice count twice, which only the fading-in of the gauge feels.
    assert close(found[1], found[0], 0 if reentrant else 0.05) or reentrant


def test_functional_calls_and_transforms():
    model = network()
    optimizer = trip(model)
    parameters = dict(model.named_parameters())
    torch.func.vmap(lambda x: torch.func.functional_call(model, parameters, (x,)))(X)
    torch.func.grad(lambda p: torch.func.functional_call(model, p, (X,)).sum())(
        {name: p.detach() for name, p in parameters.items()}
    )
    assert not sources(optimizer)
    backward(model)
    optimizer.step()


def test_copies_of_the_model_are_not_recorded():
    model = network()
    optimizer = trip(model)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        backward(other)
        assert not sources(optimizer)
        backward(other)
        trip(other).step()
    backward(model)
    optimizer.step()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_models(backend):
    found = []
    for compile in (False, True):
        torch._dynamo.reset()
        model = network(torch.float64)
        called = torch.compile(model, backend=backend) if compile else model
        optimizer = trip(called)
        for _ in range(4):
            optimizer.zero_grad()
            F.cross_entropy(called(X.double()), Y).backward()
            optimizer.step()
        assert len(optimizer.stepped) == 3
        found.append(weights(model))
    assert close(found[1], found[0], 1e-12)


# Precision.


def test_autocast_and_half_precisions():
    exact = network()
    optimizer = trip(exact)
    for _ in range(3):
        optimizer.zero_grad()
        backward(exact)
        optimizer.step()
    for kind in ("autocast", torch.bfloat16, torch.float16):
        model = network()
        optimizer = trip(model)
        if kind != "autocast":
            model.to(kind)  # after RoundTrip was made
        for _ in range(3):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=kind == "autocast"):
                out = model(X if kind == "autocast" else X.to(kind))
                F.cross_entropy(out.float(), Y).backward()
                optimizer.step()
        assert all(s.S.dtype == torch.float32 for s in sources(optimizer).values())
        assert close([w.float() for w in weights(model)], weights(exact), 0.05)


def test_products_have_full_precision(monkeypatch):
    """No TF32, which "high" allows."""
    from symport.torch.round_trip import gauge

    seen = []
    times, with_one = gauge.times, gauge.with_one

    def spy(call):
        def wrapped(*arguments):
            seen.append(torch.get_float32_matmul_precision())
            return call(*arguments)

        return wrapped

    monkeypatch.setattr(gauge, "times", spy(times))
    monkeypatch.setattr(gauge, "with_one", spy(with_one))
    torch.set_float32_matmul_precision("high")
    try:
        model = network()
        optimizer = trip(model)
        backward(model)
        optimizer.step()
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert len(seen) >= 9 and set(seen) == {"highest"}


class Syncs(TorchDispatchMode):
    """Counts what makes a host wait for its device."""

    WAITS = (
        "_local_scalar_dense",
        "item",
        "is_nonzero",
        "nonzero",
        "equal",
        "unique",
        "masked_select",
    )

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        self.count += name in self.WAITS
        return func(*args, **(kwargs or {}))


def test_steps_do_not_wait_for_the_device():
    model = network()
    optimizer = RoundTrip(model, torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), refresh=4)
    with Syncs() as planted:
        torch.ones(1).item()
    assert planted.count == 1
    for _ in range(9):
        optimizer.zero_grad()
        with Syncs() as syncs:
            backward(model)
            optimizer.step()
        assert syncs.count == 0


# Data.


def test_rows_of_zeros_do_not_count():
    found = []
    for padding in (0, 570):
        model = nn.Linear(6, 3, bias=False).double()
        with torch.no_grad():
            model.weight.fill_(0.1)
        optimizer = trip(model, length="metric")
        x = torch.cat([X.double(), torch.zeros(padding, 6).double()])
        (model(x).square().sum() / 30).backward()
        optimizer.step()
        found.append(model.weight.detach().clone())
    assert close([found[1]], [found[0]], 1e-12)


def test_empty_batches_and_layers_without_a_gradient():
    model = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3), "c": nn.Linear(3, 3)})
    optimizer = trip(model)
    model["a"](torch.randn(0, 3)).sum().backward()
    before = weights(model)
    optimizer.step()
    assert close(weights(model), before, 0)
    optimizer.zero_grad()
    model["b"](torch.randn(4, 3)).sum().backward()
    optimizer.step()
    assert torch.equal(model["c"].weight, before[4])
    assert not torch.equal(model["b"].weight, before[2])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30])
def test_a_batch_that_is_not_finite_does_not_stay_in_the_gauge(value):
    model = network()
    optimizer = trip(model)
    backward(model)
    optimizer.step()
    bad = X.clone()
    bad[3] = value
    model(bad)  # seen, but not stepped: a scaler would skip that step
    optimizer.zero_grad()
    for _ in range(8):
        optimizer.zero_grad()
        backward(model)
        optimizer.step()
    assert all(p.isfinite().all() for p in model.parameters())
    assert all(s.g.isfinite().all() for s in sources(optimizer).values())


def test_a_layer_whose_gradient_is_not_finite_spoils_itself_alone():
    model = network()
    optimizer = trip(model)
    backward(model)
    model[2].weight.grad[0, 0] = float("nan")
    optimizer.step()
    assert not model[2].weight.isfinite().all()
    assert model[0].weight.isfinite().all() and model[4].weight.isfinite().all()


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e3, 1e8])
def test_kept_steps_do_not_depend_on_the_unit_of_the_inputs(scale):
    steps = []
    for unit in (1.0, scale):
        torch.manual_seed(0)
        layer = nn.Linear(6, 3, bias=False).double()
        before = layer.weight.detach().clone()
        optimizer = RoundTrip(layer, torch.optim.SGD(layer.parameters(), 0.1), power=0.5)
        layer(unit * X.double())
        layer.weight.grad = torch.ones_like(layer.weight)
        optimizer.step()
        steps.append(layer.weight.detach() - before)
    assert close([steps[1]], [steps[0]], 1e-9)


def test_one_sample_constant_and_duplicate_features():
    for x in (torch.randn(1, 6), torch.ones(5, 6), torch.randn(9, 1).expand(9, 6).clone()):
        model = network()
        optimizer = RoundTrip(model, torch.optim.AdamW(model.parameters(), 0.01), power=0.5)
        for _ in range(15):
            optimizer.zero_grad()
            F.cross_entropy(model(x), torch.zeros(len(x)).long()).backward()
            optimizer.step()
        assert all(p.isfinite().all() for p in model.parameters())


# Models that change.


def test_a_second_round_trip_takes_over():
    model = network()
    first = trip(model)
    second = trip(model)
    backward(model)
    assert not sources(first) and sources(second)
    with pytest.raises(RuntimeError, match="has a newer RoundTrip"):
        first.step()
    second.step()


def test_replaced_parameters_are_named():
    model = network()
    optimizer = trip(model)
    model.load_state_dict({k: v.clone() for k, v in model.state_dict().items()}, assign=True)
    backward(model)
    with pytest.raises(RuntimeError, match="0.weight was replaced after RoundTrip"):
        optimizer.step()


def test_channels_last():
    found = []
    for layout in (torch.contiguous_format, torch.channels_last):
        torch.manual_seed(0)
        model = (
            nn.Sequential(nn.Conv2d(3, 4, 3), nn.Conv2d(4, 5, 3)).double().to(memory_format=layout)
        )
        optimizer = trip(model)
        x = torch.randn(2, 3, 8, 8).double().to(memory_format=layout)
        for _ in range(3):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
        found.append(weights(model))
    assert close(found[1], found[0], 1e-10)


def test_pairs_without_damping_stay_finite():
    from test_layers import Lora

    model = Lora()
    optimizer = RoundTrip(model, torch.optim.SGD(model.parameters(), 0.003), damping=0.0)
    for _ in range(5):
        optimizer.zero_grad()
        model(torch.randn(32, model.base.in_features)).square().mean().backward()
        optimizer.step()
    assert all(p.isfinite().all() for p in model.parameters())
