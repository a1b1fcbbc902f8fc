# SPDX-License-Identifier: MIT
"""Teleports in a loop, and what training loops do to them."""

from __future__ import annotations

import copy
import warnings

import pytest
import torch
from by_hand import bits, matrices, network, same_bits, scaling, train
from torch import nn

from symport.torch import Group, Slot, Symmetries, Teleporter, balance, teleport


def loop(model, closure, optimizer, teleporter, steps: int, scheduler=None) -> list[float]:
    losses = []
    for _ in range(steps):
        loss = closure()
        losses.append(loss.item())
        loss.backward()
        teleporter.step()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        optimizer.zero_grad()
    return losses


def test_the_loop_of_the_documentation_keeps_every_loss_it_teleports_at() -> None:
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    teleporter = Teleporter(symmetries, optimizer, 5)
    losses = loop(model, closure, optimizer, teleporter, 21)
    assert [c.step for c in teleporter.certificates] == [5, 10, 15, 20]
    assert teleporter.certificates[0].accepted and teleporter.certificates[0].bit_exact
    assert losses[-1] < losses[0]
    assert teleporter.certificates[0].evaluations == 0
    assert "no loss evaluated" in teleporter.certificates[0].scope


def test_a_step_gives_the_gradient_that_a_backward_pass_at_the_new_place_would() -> None:
    for kind in ("scale", "gl"):
        model, symmetries, closure = network(kind)
        teleporter = Teleporter(symmetries, torch.optim.SGD(model.parameters(), lr=0.1), 1)
        closure().backward()
        assert teleporter.step().accepted
        moved = [p.grad.clone() for p in model.parameters()]
        model.zero_grad()
        closure().backward()
        for a, p in zip(moved, model.parameters(), strict=True):
            torch.testing.assert_close(a, p.grad, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("schedule", "steps"),
    [
        (3, [3, 6, 9]),
        (1, list(range(10))),
        ({0, 4}, [0, 4]),
        (range(1, 100, 4), [1, 5, 9]),
        (lambda t: t in (2, 7), [2, 7]),
        ("every:4", [0, 4, 8]),
        ("every:4+3", [3, 7]),
        ("0/3/8", [0, 3, 8]),
        ("0,3..7:2", [0, 3, 5, 7]),
        ("5", [5]),
        ("never", []),
    ],
)
def test_schedules(schedule, steps) -> None:
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    teleporter = Teleporter(symmetries, optimizer, schedule)
    loop(model, closure, optimizer, teleporter, 10)
    assert [c.step for c in teleporter.certificates] == steps


@pytest.mark.parametrize(
    "schedule",
    [
        "auto",
        "",
        "every:0",
        "every:",
        "every 100",
        "-5",
        "9..3",
        "1e3",
        None,
        2.5,
        True,
        {2.5},
        {-1},
    ],
)
def test_what_is_no_schedule_is_refused_at_once(schedule) -> None:
    model, symmetries, _ = network("scale")
    with pytest.raises(ValueError, match="^schedule: "):
        Teleporter(symmetries, torch.optim.SGD(model.parameters(), lr=0.1), schedule)


def test_bad_arguments_say_what_is_wrong() -> None:
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with pytest.raises(ValueError, match="schedule: every 0 steps"):
        Teleporter(symmetries, optimizer, 0)
    with pytest.raises(TypeError, match="optimizer: Sequential"):
        Teleporter(symmetries, model)
    teleporter = Teleporter(symmetries, optimizer, 1, objective="decrease")
    with pytest.raises(ValueError, match=r"call step\(closure\)"):
        teleporter.step()
    certificate = Teleporter(symmetries, optimizer, 1, objective="gradient").step()
    assert not certificate.accepted and "no gradients" in certificate.reason


def test_decrease_in_a_loop_uses_the_gradients_that_stand() -> None:
    """Clipped gradients: the next step that is judged is the one that is made."""
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    train(model, closure, optimizer, 2)
    teleporter = Teleporter(symmetries, optimizer, 1, objective="decrease")
    closure().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.3)
    certificate = teleporter.step(closure)
    optimizer.step()
    expected = certificate.next_loss if certificate.accepted else certificate.next_loss_plain
    assert closure().item() == pytest.approx(expected, rel=1e-12)


# --- what training loops do ---------------------------------------------------------------------


def test_a_compiled_model_is_moved_in_place_and_not_compiled_again() -> None:
    model, symmetries, _ = network("scale", dtype=torch.float32)
    pointers = [p.data_ptr() for p in model.parameters()]
    from torch._dynamo.testing import CompileCounter

    counter = CompileCounter()
    compiled = torch.compile(model, backend=counter)
    x, y = torch.randn(16, 5), torch.randn(16, 3)
    optimizer = torch.optim.AdamW(compiled.parameters(), lr=1e-2)
    teleporter = Teleporter(Symmetries(compiled, symmetries.groups), optimizer, 2)

    def closure():
        return nn.functional.mse_loss(compiled(x), y)

    loop(compiled, closure, optimizer, teleporter, 5)
    assert teleporter.certificates[0].accepted
    assert teleport(compiled, closure, optimizer=optimizer, symmetries=symmetries).evaluations
    assert [p.data_ptr() for p in model.parameters()] == pointers
    assert counter.frame_count <= 2  # with and without gradients


def test_a_grad_scaler_is_unscaled_once_and_steps_as_without_it() -> None:
    """On the CPU the scaler works as on a GPU."""
    ends = []
    for scale in (None, 2.0**12):
        model, symmetries, closure = network("scale", dtype=torch.float32)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        scaler = None if scale is None else torch.amp.GradScaler("cpu", init_scale=scale)
        teleporter = Teleporter(symmetries, optimizer, 1, objective="decrease", scaler=scaler)
        for _ in range(4):
            optimizer.zero_grad()
            if scaler is None:
                closure().backward()
                teleporter.step(closure)
                optimizer.step()
            else:
                scaler.scale(closure()).backward()
                teleporter.step(closure)
                scaler.step(optimizer)
                scaler.update()
        assert any(c.accepted for c in teleporter.certificates)
        ends.append([p.detach().clone() for p in model.parameters()])
    for a, b in zip(*ends, strict=True):
        torch.testing.assert_close(a, b)


def test_an_overflow_of_mixed_precision_is_left_to_the_scaler() -> None:
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    closure().backward()
    model[0].weight.grad[0, 0] = float("inf")
    before = bits(model, optimizer)
    certificate = Teleporter(symmetries, optimizer, 1).step()
    assert not certificate.accepted and "infinity or NaN" in certificate.reason
    assert same_bits(before, bits(model, optimizer))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_moves_by_powers_of_two_only(dtype: torch.dtype) -> None:
    model, symmetries, closure = network("scale", dtype=dtype)
    loss = closure().item()
    certificate = teleport(model, closure, symmetries=symmetries, powers_of_two=False)
    assert certificate.accepted and certificate.bit_exact and closure().item() == loss
    model, symmetries, closure = network("gl", dtype=dtype)
    before = bits(model)
    certificate = teleport(model, closure, symmetries=symmetries)
    assert not certificate.accepted and "only powers of two" in certificate.reason
    assert same_bits(before, bits(model))


def test_autocast_changes_no_bit_of_the_loss() -> None:
    model, symmetries, _ = network("scale", dtype=torch.float32)
    x, y = torch.randn(16, 5), torch.randn(16, 3)

    def closure():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return nn.functional.mse_loss(model(x), y)

    certificate = teleport(model, closure, symmetries=symmetries)
    assert certificate.accepted and certificate.bit_exact


def test_groups_across_different_weight_decays_are_left_alone_unless_asked() -> None:
    model, symmetries, closure = network("scale")
    biases = [p for n, p in model.named_parameters() if n.endswith("bias")]
    weights = [p for n, p in model.named_parameters() if n.endswith("weight")]
    optimizer = torch.optim.AdamW(
        [{"params": weights, "weight_decay": 0.1}, {"params": biases, "weight_decay": 0.0}]
    )
    with pytest.warns(UserWarning, match="across_decay=True moves them"):
        certificate = teleport(model, closure, optimizer=optimizer, symmetries=symmetries)
    assert not certificate.accepted
    assert "0.weight and 0.bias have different weight decays" in certificate.reason
    certificate = teleport(
        model, closure, optimizer=optimizer, symmetries=symmetries, across_decay=True
    )
    assert certificate.accepted


def test_learning_rates_weigh_the_gradients() -> None:
    """Rate 0 on the first layer: making its gradient large is worth nothing."""
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.SGD(
        [
            {"params": list(model[0].parameters()), "lr": 0.0},
            {"params": list(model[2].parameters()), "lr": 0.1},
        ]
    )
    symmetries = Symmetries(model, symmetries.groups[:1])
    first = model[0].weight.detach().clone()
    certificate = teleport(
        model, closure, optimizer=optimizer, symmetries=symmetries, objective="gradient"
    )
    assert certificate.accepted
    # gradients of model[2].weight[:, i] grow with s_i
    assert torch.equal(model[0].weight, 2 * first)


def test_a_parameter_without_gradient_keeps_its_group_in_place() -> None:
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    closure().backward()
    model[4].weight.grad = None
    certificate = Teleporter(symmetries, optimizer, 1).step()
    assert [g.moved for g in certificate.groups] == [True, False]
    assert certificate.groups[1].reason == "4.weight has no gradient at this step"


def test_frozen_parameters_and_those_outside_the_optimizer_do_not_move() -> None:
    model, symmetries, closure = network("scale")
    model[0].weight.requires_grad_(False)
    frozen = model[0].weight.clone()
    certificate = teleport(model, closure, symmetries=symmetries)
    assert certificate.groups[0].reason == "0.weight is frozen"
    assert certificate.groups[1].moved and torch.equal(frozen, model[0].weight)
    optimizer = torch.optim.SGD(model[2].parameters(), lr=0.1)
    certificate = teleport(model, closure, optimizer=optimizer, symmetries=symmetries)
    assert certificate.groups[1].reason == "4.weight is not in the optimizer"


@pytest.mark.parametrize("flags", [{}, {"foreach": True}, {"fused": True}, {"amsgrad": True}])
def test_fused_and_foreach_optimizers_keep_their_own_tensors(flags) -> None:
    model, symmetries, closure = network("scale", dtype=torch.float32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, **flags)
    train(model, closure, optimizer, 2)

    def pointers():
        return [v.data_ptr() for s in optimizer.state.values() for v in s.values()]

    before, moments = pointers(), optimizer.state[model[0].weight]["exp_avg"].clone()
    assert teleport(model, closure, optimizer=optimizer, symmetries=symmetries).accepted
    assert pointers() == before
    assert not torch.equal(moments, optimizer.state[model[0].weight]["exp_avg"])
    train(model, closure, optimizer, 2)


def test_a_resumed_run_ends_with_the_same_bits() -> None:
    def parts():
        model, symmetries, closure = network("scale", dtype=torch.float32)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
        return model, closure, optimizer, scheduler, Teleporter(symmetries, optimizer, 3)

    model, closure, optimizer, scheduler, teleporter = parts()
    loop(model, closure, optimizer, teleporter, 11, scheduler)
    whole = bits(model, optimizer)
    model, closure, optimizer, scheduler, teleporter = parts()
    loop(model, closure, optimizer, teleporter, 5, scheduler)
    saved = copy.deepcopy([x.state_dict() for x in (model, optimizer, scheduler, teleporter)])
    model, closure, optimizer, scheduler, teleporter = parts()
    for part, state in zip((model, optimizer, scheduler, teleporter), saved, strict=True):
        part.load_state_dict(state)
    loop(model, closure, optimizer, teleporter, 6, scheduler)
    assert same_bits(whole[:-1], bits(model, optimizer)[:-1])  # all but the generator
    assert [c.step for c in teleporter.certificates] == [3, 6, 9]


def test_averages_of_the_weights_move_along() -> None:
    for wrap in (
        lambda m: torch.optim.swa_utils.AveragedModel(m),
        lambda m: copy.deepcopy(m),
        lambda m: {n: p.detach().clone() for n, p in m.named_parameters()},
    ):
        model, symmetries, closure = network("gl")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        average = wrap(model)
        train(model, closure, optimizer, 3)
        x = torch.randn(4, 5).double()
        call = average if isinstance(average, nn.Module) else None
        before = call(x) if call else torch.func.functional_call(model, average, (x,))
        closure().backward()
        assert Teleporter(symmetries, optimizer, 1).also(average).step().accepted
        after = call(x) if call else torch.func.functional_call(model, average, (x,))
        torch.testing.assert_close(before, after, rtol=1e-9, atol=1e-11)
    with pytest.raises(ValueError, match="the copy has no tensor '0.weight'"):
        Teleporter(symmetries, optimizer).also({})


def test_dropout_and_batch_norm_draw_and_count_as_without_a_teleport() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3)
    )
    slots = (
        Slot("1.weight", 0, 0, 8, 1, 1.0),
        Slot("1.bias", 0, 0, 8, 1, 1.0),
        Slot("4.weight", 1, 0, 8, 1, -1.0),
    )
    symmetries = Symmetries(model, [Group("scale", 8, slots)])
    x, y = torch.randn(16, 5), torch.randn(16, 3)
    with torch.no_grad():
        model[1].weight.mul_(9)

    def closure():
        return nn.functional.mse_loss(model(x), y)

    random, mean = torch.get_rng_state(), model[1].running_mean.clone()
    certificate = teleport(model, closure, symmetries=symmetries)
    assert certificate.accepted and certificate.bit_exact
    assert torch.equal(random, torch.get_rng_state())
    assert torch.equal(mean, model[1].running_mean)
    assert model[1].num_batches_tracked.item() == 0


def test_a_closure_with_its_own_backward_works_and_leaves_the_gradients() -> None:
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def with_backward():
        optimizer.zero_grad()
        loss = closure()
        loss.backward()
        return loss

    certificate = teleport(model, with_backward, optimizer=optimizer, symmetries=symmetries)
    assert certificate.accepted and certificate.bit_exact
    assert all(p.grad is None for p in model.parameters())


def test_tied_parameters_are_moved_once() -> None:
    torch.manual_seed(0)
    model = nn.Module()
    model.a = nn.Linear(6, 4, bias=False)
    model.b = nn.Linear(4, 6, bias=False)
    model.same = model.a
    model.double()
    symmetries = Symmetries(model, [matrices("same", "b", 4, bias=False)])
    product = (model.b.weight @ model.a.weight).detach()
    optimizer = torch.optim.AdamW(model.parameters())
    (model.b.weight @ model.a.weight).square().sum().backward()
    optimizer.step()
    product = (model.b.weight @ model.a.weight).detach()
    certificate = balance(model, symmetries=symmetries, optimizer=optimizer)
    assert certificate.accepted and "exp_avg" in certificate.state
    torch.testing.assert_close(product, model.b.weight @ model.a.weight)


def test_tensors_that_cannot_be_changed_are_refused_with_a_reason() -> None:
    with torch.inference_mode():
        model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    certificate = balance(model, symmetries=Symmetries(model, [scaling("0", "2", 4)]))
    assert not certificate.accepted and "inference_mode" in certificate.reason
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to("meta")
    certificate = balance(model, symmetries=Symmetries(model, [scaling("0", "2", 4)]))
    assert not certificate.accepted and "meta device" in certificate.reason
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    symmetries = Symmetries(model, [scaling("0", "2", 4)])
    model[2] = nn.Linear(3, 2)
    certificate = balance(model, symmetries=symmetries)
    assert not certificate.accepted and "range [0, 4) of an axis of length 3" in certificate.reason
    model, symmetries, closure = network("scale")
    with torch.no_grad():
        model[0].weight[0, 0] = float("nan")
    before = bits(model)
    certificate = teleport(model, closure, symmetries=symmetries)
    assert not certificate.accepted and "the loss is nan" in certificate.reason
    assert len(before) == len(bits(model))


def test_sizes_beyond_the_range_of_squares_are_balanced() -> None:
    """1e-36 squared is 0 in float, 1e30 squared infinity."""
    model, symmetries, _ = network("scale", dtype=torch.float32)
    with torch.no_grad():
        model[0].weight.mul_(1e30)
        model[0].bias.mul_(1e30)
        model[2].weight.mul_(1e-36)
        model[2].bias.mul_(1e-6)
        model[4].weight.mul_(1e8)
    certificate = balance(model, symmetries=symmetries)
    assert certificate.accepted and certificate.bit_exact
    assert certificate.squared_norm_after < 1e3


def test_an_overflow_is_refused() -> None:
    """A gradient that wants the first layer doubled, whose weights are at the end of the range."""
    model, symmetries, _ = network("scale", dtype=torch.float32)
    with torch.no_grad():
        model[0].weight.fill_(2e38)
        model[2].weight.zero_()
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    model[2].weight.grad.fill_(1.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = bits(model)
    certificate = Teleporter(symmetries, optimizer, 1, objective="gradient").step()
    assert not certificate.accepted and certificate.reason == "a parameter would overflow"
    assert same_bits(before, bits(model))


def test_weights_that_are_not_finite_are_refused() -> None:
    model, symmetries, _ = network("scale", dtype=torch.float32)
    with torch.no_grad():
        model[0].weight[0, 0] = float("nan")
    certificate = balance(model, symmetries=symmetries)
    assert not certificate.accepted and certificate.reason == "a parameter is not finite"


def test_a_step_after_the_optimizers_is_told_once() -> None:
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    teleporter = Teleporter(symmetries, optimizer, 1)

    def late() -> None:
        optimizer.zero_grad()
        closure().backward()
        optimizer.step()
        teleporter.step()

    with pytest.warns(UserWarning, match=r"between backward\(\) and optimizer.step\(\)"):
        late()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        late()


def test_its_text_says_what_it_did() -> None:
    model, symmetries, closure = network("scale")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    teleporter = Teleporter(symmetries, optimizer, 4)
    loop(model, closure, optimizer, teleporter, 5)
    assert repr(teleporter) == "Teleporter(2 groups, schedule 4, balance; 5 steps, 1 teleport)"
    assert "schedule <lambda>," in repr(Teleporter(symmetries, optimizer, lambda t: t == 3))
