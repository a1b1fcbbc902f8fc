# SPDX-License-Identifier: MIT
from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import symport


def rosenbrock(x):
    return 100.0 * (x[0] ** 2 - x[1]) ** 2 + (x[0] - 1.0) ** 2


def rosenbrock_grad(x):
    return np.array(
        [400.0 * x[0] * (x[0] ** 2 - x[1]) + 2.0 * (x[0] - 1.0), -200.0 * (x[0] ** 2 - x[1])]
    )


START = np.array([-1.0, -1.0])


def test_a_named_function_runs_as_the_program_runs_it():
    run = symport.optimize("rosenbrock", teleport="every:100+99")
    assert run.status == "step_limit" and run.steps == 1000
    assert run.loss < 1e-20  # README: 9.2e-27
    assert len(run.teleports) == 10
    assert run.trace["loss"].shape == (1001,)
    assert 'function = "rosenbrock:1"' in run.config
    assert run.loss == rosenbrock(run.x)


def test_a_function_of_ones_own_gives_the_numbers_of_the_library():
    options = {"lr": 1e-3, "steps": 300, "teleport": "every:100", "rehearsal": 0, "cap": "inf"}
    named = symport.optimize("rosenbrock", start=START, **options)
    own = symport.optimize(rosenbrock, rosenbrock_grad, START, "rosenbrock", **options)
    assert own.teleports[0].accepted
    assert own.teleports[0].grad_sq_after == pytest.approx(
        named.teleports[0].grad_sq_after, rel=1e-4
    )
    assert own.loss == pytest.approx(named.loss, rel=1e-3)


def test_without_a_symmetry_it_is_plain_descent():
    run = symport.optimize(rosenbrock, rosenbrock_grad, START, lr=1e-3, steps=50)
    x = START.copy()
    for _ in range(50):
        x -= 1e-3 * rosenbrock_grad(x)
    np.testing.assert_allclose(run.x, x, rtol=1e-14)
    assert run.teleports == []
    assert START.tolist() == [-1.0, -1.0]


def factorization(seed=0, condition=30.0):
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(6, 3)), rng.normal(size=(3, 8))
    Y = left @ np.diag(np.geomspace(1.0, 1.0 / condition, 3)) @ right

    def f(p):
        return 0.5 * np.sum((p["U"] @ p["V"] - Y) ** 2)

    def grad(p):
        R = p["U"] @ p["V"] - Y
        return {"U": R @ p["V"].T, "V": p["U"].T @ R}

    start = {"U": rng.normal(size=(6, 3)), "V": rng.normal(size=(3, 8))}
    group = symport.Group("gl", 3, [symport.Slot("V", 0, "g"), symport.Slot("U", 1, "g^-T")])
    return f, grad, start, group


def test_a_list_of_slots_is_a_symmetry():
    f, grad, start, group = factorization()
    plain = symport.optimize(f, grad, start, steps=200)
    run = symport.optimize(f, grad, start, [group], teleport="every:20", steps=200)
    accepted = [c for c in run.teleports if c.accepted]
    assert accepted
    for certificate in accepted:
        assert certificate.drift < 1e-8
    assert run.loss < 0.1 * plain.loss
    assert set(run.x) == {"U", "V"} and run.x["U"].shape == (6, 3)
    assert f(run.x) == pytest.approx(run.loss, rel=1e-10)


def test_a_list_that_is_no_symmetry_is_refused():
    f, grad, start, _ = factorization()
    wrong = symport.Group("gl", 3, [symport.Slot("V", 0, "g"), symport.Slot("U", 1, "g")])
    with pytest.raises(ValueError, match="not a symmetry of your loss"):
        symport.optimize(f, grad, start, [wrong])


def test_exact_hessian_products_are_used():
    calls = []
    A = np.diag([1.0, 100.0])

    def product(x, v):
        calls.append(1)
        return 2.0 * A @ v

    run = symport.optimize(
        lambda x: x @ A @ x, lambda x: 2.0 * A @ x, [1.0, 1.0], hessian_vector=product, steps=5
    )
    assert calls and run.loss < 101.0


def test_what_the_function_raises_comes_back():
    def broken(x):
        raise RuntimeError("out of paper")

    with pytest.raises(RuntimeError, match="out of paper"):
        symport.optimize(broken, rosenbrock_grad, START, lr=1e-3)

    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        symport.optimize(rosenbrock, interrupted, START, lr=1e-3)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("rosenbrok",), {}, "did you mean 'rosenbrock'"),
        (("rosenbrock",), {"learning_rate": 1}, "learning_rate: no such option"),
        (("rosenbrock",), {"lr": -1}, "lr: found '-1'"),
        (("rosenbrock",), {"steps": 2.5}, "steps: found '2.5'"),
        (("rosenbrock",), {"start": [1.0]}, "start: found 1 number"),
        (("rosenbrock", rosenbrock_grad), {}, "has its own gradient"),
        ((rosenbrock, None, START), {}, "grad and start: missing"),
        ((rosenbrock, rosenbrock_grad, np.ones((2, 2))), {}, "start: found the shape"),
        ((rosenbrock, rosenbrock_grad, START), {"teleport": 5}, "teleport: needs a symmetry"),
        ((rosenbrock, rosenbrock_grad, START, "circle"), {}, "symmetry: found 'circle'"),
        ((rosenbrock, rosenbrock_grad, START), {"optimizer": "adam"}, "lr: missing"),
        ((rosenbrock, lambda x: x[:1], START), {"lr": 1e-3}, "grad: found 1 numbers, allowed is 2"),
        ((rosenbrock, rosenbrock_grad, START), {"round_trip": "metric"}, "round_trip: needs"),
    ],
)
def test_bad_input_is_a_value_error_that_says_so(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        symport.optimize(*arguments, **options)


def test_options_are_listed():
    names = [name for name, _, _ in symport.options("optimize")]
    assert "search_steps" in names and "teleport" in names
    assert "layers" in [name for name, _, _ in symport.options("train")]


def test_other_threads_run_while_the_library_computes():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    began = time.monotonic()
    symport.optimize("quadratic:200,100", steps=20000, lr=1e-3)
    seconds = time.monotonic() - began
    done.set()
    other.join()
    # With the GIL held the other thread would have its 5 ms before the call, and no more.
    assert len(ticks) > 20 * min(seconds, 1.0), (len(ticks), seconds)
