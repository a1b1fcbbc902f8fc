# SPDX-License-Identifier: MIT
"""Slots, groups and their action, against formulas written out by hand."""

import json
from copy import deepcopy

import pytest
import torch
from torch import nn

from symport.torch import Group, Slot, Symmetries
from symport.torch.table import feels


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def mlp() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()


def rescaling(power: float = -1.0) -> Group:
    return Group(
        "scale",
        4,
        (
            Slot("0.weight", 0, 0, 4, 1, 1.0),
            Slot("0.bias", 0, 0, 4, 1, 1.0),
            Slot("2.weight", 1, 0, 4, 1, power),
        ),
    )


def linear_pair(kind: str = "gl") -> Group:
    return Group(
        kind,
        4,
        (
            Slot("0.weight", 0, 0, 4, 1, "g"),
            Slot("0.bias", 0, 0, 4, 1, "g"),
            Slot("1.weight", 1, 0, 4, 1, "g^-T" if kind != "permutation" else "g"),
        ),
    )


def test_scaling_multiplies_rows_and_divides_columns():
    model = mlp()
    before = deepcopy(model.state_dict())
    s = torch.tensor([2.0, 0.5, 3.0, 1.0], dtype=torch.float64)
    Symmetries(model, [rescaling()]).act([s])
    after = model.state_dict()
    torch.testing.assert_close(after["0.weight"], before["0.weight"] * s[:, None])
    torch.testing.assert_close(after["0.bias"], before["0.bias"] * s)
    torch.testing.assert_close(after["2.weight"], before["2.weight"] / s)
    assert torch.equal(after["2.bias"], before["2.bias"])


@pytest.mark.parametrize("kind", ["gl", "orthogonal", "permutation"])
def test_dense_groups_leave_a_product_of_linear_layers_unchanged(kind):
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)).double()
    symmetries = Symmetries(model, [linear_pair(kind)])
    x = torch.randn(5, 3, dtype=torch.float64)
    y = model(x)
    weight = model[0].weight.clone()
    symmetries.act(symmetries.random_element(seed=1, size=0.5))
    assert not torch.allclose(model[0].weight, weight)
    torch.testing.assert_close(model(x), y, rtol=1e-13, atol=1e-13)


def test_repeat_acts_on_consecutive_entries():
    model = nn.Linear(6, 2, bias=False).double()
    before = model.weight.detach().clone()
    Symmetries(model, [Group("scale", 3, (Slot("weight", 1, 0, 6, 2, -1.0),))]).act(
        [torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)]
    )
    factors = torch.tensor([1, 1, 0.5, 0.5, 0.25, 0.25], dtype=torch.float64)
    assert torch.equal(model.weight, before * factors)

    g = torch.randn(3, 3, dtype=torch.float64)
    model.weight.data.copy_(before)
    Symmetries(model, [Group("gl", 3, (Slot("weight", 1, 0, 6, 2, "g"),))]).act([g])
    torch.testing.assert_close(model.weight, before @ torch.kron(g, torch.eye(2)).double().T)


def test_a_shift_acts_on_the_variance_plus_epsilon():
    norm = nn.BatchNorm1d(3, eps=0.1).double()
    norm.running_var.copy_(torch.tensor([1.0, 2.0, 3.0]))
    group = Group("scale", 3, (Slot("running_var", 0, 0, 3, 1, 2.0, shift=0.1),))
    Symmetries(norm, [group]).act([torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)])
    expected = torch.tensor([1.1, 4 * 2.1, 9 * 3.1], dtype=torch.float64) - 0.1
    torch.testing.assert_close(norm.running_var, expected)


@pytest.mark.parametrize("group", [rescaling(), rescaling(-2.0)], ids=["-1", "-2"])
def test_inverse_undoes_the_action(group):
    model = mlp()
    before = deepcopy(model.state_dict())
    symmetries = Symmetries(model, [group])
    element = symmetries.random_element(seed=3, size=1.0)
    symmetries.act(element)
    symmetries.act(symmetries.inverse(element))
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(tensor, before[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["scale", "gl", "orthogonal"])
def test_a_transported_gradient_is_the_gradient_at_the_new_point(kind):
    if kind == "scale":
        model, group = mlp(), rescaling()
    else:
        model, group = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)).double(), linear_pair(kind)
    symmetries = Symmetries(model, [group])
    x = torch.randn(5, 3, dtype=torch.float64)

    def gradients() -> dict[str, torch.Tensor]:
        loss = model(x).pow(2).sum()
        names = [name for name, _ in model.named_parameters()]
        return dict(zip(names, torch.autograd.grad(loss, list(model.parameters())), strict=True))

    transported = gradients()
    element = symmetries.random_element(seed=5, size=0.5)
    symmetries.transport(element, transported, "cotangent")
    symmetries.act(element)
    for name, gradient in gradients().items():
        torch.testing.assert_close(transported[name], gradient, rtol=1e-10, atol=1e-10)


def test_states_of_a_scaling():
    model = mlp()
    symmetries = Symmetries(model, [rescaling(-2.0)])
    s = torch.tensor([2.0, 4.0, 0.5, 1.0], dtype=torch.float64)
    factors = {
        "point": s**-2,
        "tangent": s**-2,
        "cotangent": s**2,
        "squared_cotangent": s**4,
        "absolute_cotangent": s**2,
        "squared_tangent": s**-4,
        "absolute_tangent": s**-2,
        "normalised": torch.ones(4, dtype=torch.float64),
    }
    for state, factor in factors.items():
        tensor = torch.ones(2, 4, dtype=torch.float64)
        symmetries.transport([s], {"2.weight": tensor, "0.bias": None}, state)
        assert torch.equal(tensor, factor.expand(2, 4)), state


def test_squared_state_of_a_dense_group_stays_positive():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)).double()
    symmetries = Symmetries(model, [linear_pair()])
    moments = {name: torch.rand_like(p) for name, p in model.named_parameters()}
    second = moments["1.weight"].clone()
    element = symmetries.random_element(seed=2, size=0.7)
    symmetries.transport(element, moments, "squared_cotangent")
    # rho = g^-T on the columns of the consumer, so rho^-T = g.
    torch.testing.assert_close(moments["1.weight"], second @ (element[0] ** 2).T)
    assert all((moment > 0).all() for moment in moments.values())


def test_memory_stays_in_place_and_autograd_notices():
    model = mlp()
    symmetries = Symmetries(model, [rescaling()])
    pointers = {name: p.data_ptr() for name, p in model.named_parameters()}
    loss = model(torch.randn(2, 3).double()).sum()
    symmetries.act(symmetries.random_element(seed=0, size=1.0))
    assert pointers == {name: p.data_ptr() for name, p in model.named_parameters()}
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_powers_of_two_are_exact(dtype):
    model = mlp().to(dtype)
    symmetries = Symmetries(model, [rescaling()])
    x = torch.randn(7, 3).to(dtype)
    y = model(x)
    element = symmetries.powers_of_two(symmetries.random_element(seed=4, size=1.0))
    assert not torch.equal(element[0], torch.ones(4).double())
    symmetries.act(element)
    assert torch.equal(model(x), y)


def test_random_elements_depend_on_the_seed_only():
    symmetries = Symmetries(mlp(), [rescaling()])
    one, same = symmetries.random_element(7, 0.3), symmetries.random_element(7, 0.3)
    assert torch.equal(one[0], same[0])
    assert not torch.equal(one[0], symmetries.random_element(8, 0.3)[0])
    assert torch.equal(symmetries.random_element(7, 0.0)[0], torch.ones(4).double())
    torch.testing.assert_close(
        torch.log(symmetries.random_element(7, 0.6)[0]), 2 * torch.log(one[0])
    )


def test_gauge_file_round_trip(tmp_path):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    group = Group(
        "scale",
        4,
        (
            Slot("0.weight", 0, 0, 4, 1, 1.0),
            Slot("1.running_var", 0, 0, 4, 1, 2.0, shift=1e-5),
        ),
        residual=1e-16,
        note="n",
        where="w",
    )
    symmetries = Symmetries(model, [group])
    symmetries.save(tmp_path / "gauge.json")
    loaded = Symmetries.load(tmp_path / "gauge.json", model)
    assert loaded.groups == symmetries.groups
    document = json.loads((tmp_path / "gauge.json").read_text())
    assert document["version"] == 1
    assert document["groups"][0]["slots"][0] == {
        "tensor": "0.weight", "axis": 0, "start": 0, "stop": 4, "repeat": 1, "rho": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("slot", "message"),
    [
        (Slot("9.weight", 0, 0, 4, 1, 1.0), "no parameter or buffer '9.weight'"),
        (Slot("0.weight", 2, 0, 4, 1, 1.0), "axis 2 of a tensor with 2 axes"),
        (Slot("0.weight", 0, 0, 5, 1, 1.0), "axis of length 4"),
        (Slot("0.weight", 0, 0, 3, 1, 1.0), "does not hold 4 indices"),
        (Slot("0.weight", 0, 0, 4, 1, "g"), "expected a number"),
        (Slot("0.weight", 0, 0, 4, 1, float("nan")), "expected a number"),
    ],
)
def test_slots_that_do_not_fit_are_refused(slot, message):
    with pytest.raises(ValueError, match=message):
        Symmetries(mlp(), [Group("scale", 4, (slot,))])


def test_bad_files_and_elements_are_refused(tmp_path):
    path = tmp_path / "gauge.json"
    for text, message in [
        ("{", "not JSON"),
        ('{"version": 2, "groups": []}', "version 2"),
        ('{"groups": []}', "without 'version'"),
        ('{"version": 1, "groups": [{"kind": "scale", "size": 4, "slots": [{"x": 1}]}]}', "x"),
        ('{"version": 1, "groups": [{"kind": "lie", "size": 4, "slots": []}]}', "kind 'lie'"),
    ]:
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            Symmetries.load(path, mlp())
    model = mlp()
    symmetries = Symmetries(model, [rescaling()])
    before = deepcopy(model.state_dict())
    for element, message in [
        ([], "one for each of the 1 groups"),
        ([torch.ones(3).double()], "shape"),
        ([-torch.ones(4).double()], "positive"),
        ([torch.full((4,), torch.inf).double()], "infinity"),
    ]:
        with pytest.raises(ValueError, match=message):
            symmetries.act(element)
    with pytest.raises(ValueError, match="unknown state"):
        symmetries.transport([torch.ones(4).double()], {}, "velocity")
    with pytest.raises(ValueError, match="shape"):
        symmetries.transport([torch.ones(4).double()], {"0.bias": torch.ones(5)}, "cotangent")
    assert all(torch.equal(t, before[n]) for n, t in model.state_dict().items())


def test_which_optimizer_feels_which_group():
    model = mlp()
    sgd, adam = torch.optim.SGD(model.parameters(), 0.1), torch.optim.AdamW(model.parameters())
    assert [feels(k, sgd) for k in ("scale", "gl", "orthogonal", "sign")] == [
        "yes",
        "yes",
        "no",
        "no",
    ]
    assert [feels(k, adam) for k in ("scale", "gl", "orthogonal")] == ["yes"] * 3
    assert feels("permutation", adam) == "no"
    assert feels("gl", None) == "?"
    for name in ("SGD", "ASGD", "LBFGS", "Adam", "AdamW", "Rprop"):
        known = getattr(torch.optim, name)
        assert feels("gl", known) == feels("gl", name) == feels("gl", name.lower()) == "yes"
    assert feels("scale", "Rprop") == "no"  # test_equivariance.py
    with pytest.raises(ValueError, match="optimizer: 'adamx'; expected .* AdamW"):
        Symmetries(model, [rescaling()], optimizer="adamx")


def test_the_table_explains_its_question_marks():
    class Own(torch.optim.SGD):
        pass

    model = mlp()
    text = str(Symmetries(model, [rescaling()]))
    assert text.splitlines()[-1] == "feels ?: pass optimizer= to know"
    text = str(Symmetries(model, [rescaling()], optimizer=Own))
    assert text.splitlines()[-1] == "feels ?: Symport does not know Own"
    assert "?" not in str(Symmetries(model, [rescaling()], optimizer=torch.optim.SGD))


def test_the_table_names_groups_and_refusals():
    from symport.torch import Refusal

    symmetries = Symmetries(
        mlp(), [rescaling()], [Refusal("R+^4", "fc", "gelu", 0.06)], optimizer="AdamW"
    )
    text = str(symmetries).splitlines()
    assert text[0].split() == ["group", "where", "dim", "feels", "(AdamW)", "proof", "note"]
    assert text[1].split()[:3] == ["R+^4", "4", "yes"]
    assert text[2].split()[:2] == ["none", "fc"] and "gelu" in text[2]
