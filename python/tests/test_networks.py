# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import symport

SQUARES = {"activation": "leaky_relu", "loss": "half_sum_squares", "lr": 1e-3}


def problem(seed=0, samples=4, dtype=np.float64, biases=False):
    rng = np.random.default_rng(seed)
    widths = [5, 6, 7, 3]
    weights = {}
    for m in range(1, 4):
        weights[f"W{m}"] = rng.normal(size=(widths[m], widths[m - 1])).astype(dtype)
        if biases:
            weights[f"b{m}"] = rng.normal(size=widths[m]).astype(dtype)
    return weights, rng.normal(size=(samples, 5)), rng.normal(size=(samples, 3))


def forward(weights, X, slope=0.1):
    h = X.T
    layers = sum(name.startswith("W") for name in weights)
    for m in range(1, layers + 1):
        h = weights[f"W{m}"] @ h
        if f"b{m}" in weights:
            h = h + weights[f"b{m}"][:, None]
        if m < layers:
            h = np.where(h > 0, h, slope * h)
    return h.T


def half_squares(weights, X, Y):
    return 0.5 * np.sum((forward(weights, X) - Y) ** 2)


@pytest.mark.parametrize("symmetry", ["gl", "rescale"])
@pytest.mark.parametrize("biases", [False, True])
def test_a_teleport_keeps_the_loss_and_moves_the_weights_in_place(symmetry, biases):
    weights, X, Y = problem(biases=biases)
    before = {name: array.copy() for name, array in weights.items()}
    arrays = dict(weights)
    certificate = symport.teleport(weights, X, Y, **SQUARES, symmetry=symmetry)
    assert certificate.accepted, certificate
    assert certificate.loss_before == pytest.approx(half_squares(before, X, Y), rel=1e-12)
    assert certificate.loss_after == pytest.approx(half_squares(weights, X, Y), rel=1e-12)
    assert certificate.drift < 1e-8
    assert all(arrays[name] is weights[name] for name in weights)
    assert not np.array_equal(before["W2"], weights["W2"])
    assert "accepted" in repr(certificate)


def test_a_refused_teleport_leaves_every_bit():
    weights, X, Y = problem(samples=9)  # more samples than the first layer has inputs
    before = {name: array.copy() for name, array in weights.items()}
    certificate = symport.teleport(weights, X, Y, **SQUARES, symmetry="gl")
    assert not certificate.accepted
    assert "9 samples have rank 5" in certificate.reason
    assert all(np.array_equal(before[name], weights[name]) for name in weights)


def test_weights_may_be_a_list_and_single_precision():
    weights, X, Y = problem(dtype=np.float32)
    listed = list(weights.values())
    certificate = symport.teleport(listed, X, Y, **SQUARES, symmetry="rescale", kappa=2)
    assert certificate.accepted
    assert listed[0].dtype == np.float32


def test_targets_may_be_classes():
    weights, X, _ = problem()
    y = np.array([0, 1, 2, 1])
    certificate = symport.teleport(
        weights, X, y, activation="leaky_relu", loss="cross_entropy", lr=0.1, symmetry="rescale"
    )
    Z = forward(weights, X)
    expected = np.mean(np.log(np.exp(Z).sum(axis=1)) - Z[np.arange(4), y])
    assert certificate.loss_after == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"symmetry": "glx"}, "did you mean 'gl'"),
        ({"activation": "tanh", "symmetry": "gl"}, "needs an activation with an inverse"),
        ({"lr": 0}, "lr: found '0'"),
        ({"loss": "cross_entropy"}, "batch"),
        ({"kapa": 2}, "kapa: no such option; did you mean 'kappa'"),
        ({"X": np.ones((4, 6))}, "batch"),
        ({"X": np.full((4, 5), np.nan)}, "finite"),
        ({"Y": np.ones((3, 3))}, "batch"),
        ({"weights": {"W1": np.ones((2, 2)), "W3": np.ones((2, 2))}}, "W"),
        ({"weights": {"W1": np.ones((2, 2), dtype=np.int64)}}, "found arrays of int64"),
    ],
)
def test_bad_input_is_a_value_error_that_says_so(change, message):
    weights, X, Y = problem()
    arguments = {"weights": weights, "X": X, "Y": Y, **SQUARES, **change}
    with pytest.raises(ValueError, match=message):
        symport.teleport(
            arguments.pop("weights"), arguments.pop("X"), arguments.pop("Y"), **arguments
        )


def test_gradients_are_those_of_finite_differences():
    weights, X, Y = problem(biases=True)
    loss, gradient = symport.gradient(weights, X, Y)
    assert loss == pytest.approx(half_squares(weights, X, Y), rel=1e-13)
    rng = np.random.default_rng(5)
    direction = {name: rng.normal(size=array.shape) for name, array in weights.items()}

    def at(t):
        moved = {name: weights[name] + t * direction[name] for name in weights}
        return half_squares(moved, X, Y)

    slope = sum(np.sum(gradient[name] * direction[name]) for name in weights)
    assert (at(1e-6) - at(-1e-6)) / 2e-6 == pytest.approx(slope, rel=1e-6)


def test_a_white_direction_is_the_gradient_times_the_inverse_gram_matrix():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(20, 4)), rng.normal(size=(20, 3))
    weights = {"W1": rng.normal(size=(3, 4))}
    damping = 0.1
    loss, direction = symport.white_direction(
        weights, X, Y, activation="linear", loss="half_sum_squares", damping=damping
    )
    _, gradient = symport.gradient(weights, X, Y, activation="linear", loss="half_sum_squares")
    A = X.T @ X
    lam = damping * np.trace(A) / 4
    expected = gradient["W1"] @ np.linalg.inv(A + lam * np.eye(4))
    np.testing.assert_allclose(direction["W1"], expected, rtol=1e-10)
    assert loss == pytest.approx(0.5 * np.sum((X @ weights["W1"].T - Y) ** 2))


def test_round_trips_go_down_in_place():
    weights, X, Y = problem(samples=30, biases=True)
    W1 = weights["W1"]
    losses = [symport.round_trip(weights, X, Y, loss="mean_squares") for _ in range(20)]
    assert losses[-1] < 0.5 * losses[0]
    assert weights["W1"] is W1
    with pytest.raises(ValueError, match="theta"):
        symport.round_trip(weights, X, Y, theta=2.0)


def samples(seed=3, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, (X @ rng.normal(size=(6, 3))).argmax(axis=1)


def test_training_on_arrays_has_the_options_of_the_program():
    X, y = samples()
    run = symport.train(
        (X, y),
        test=samples(4, 50),
        layers=[6, 10, 3],
        activation="relu",
        bias=True,
        batch=20,
        epochs=5,
        lr=0.1,
        validation=40,
        teleport=1,
        symmetry="rescale",
        seed=1,
    )
    assert run.status == "step_limit"
    assert run.trace["epoch"].tolist() == [0, 1, 2, 3, 4, 5]
    assert run.trace["valid_accuracy"][-1] > 0.6
    assert run.weights["W1"].shape == (10, 6) and run.weights["b2"].shape == (3,)
    assert len(run.teleports) > 0
    assert run.x is None
    assert '"test"' in run.to_json()


def test_the_same_seed_gives_the_same_bytes():
    X, y = samples()
    runs = [symport.train((X, y), layers=[6, 8, 3], batch=20, epochs=2, lr=0.1) for _ in range(2)]
    assert all(
        np.array_equal(runs[0].weights[name], runs[1].weights[name]) for name in runs[0].weights
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": [7, 3]}, "data"),
        ({"layers": [6, 2]}, "data"),
        ({"layers": "6-3"}, "layers: found '6-3'"),
        ({"layers": [6, 3], "epoch": 3}, "epoch: no such option; did you mean 'epochs'"),
        ({"layers": [6, 3], "optimizer": "sgd9"}, "optimizer"),
        ({"resume": "x"}, "resume: cannot be combined"),
    ],
)
def test_bad_training_options_are_value_errors(options, message):
    with pytest.raises(ValueError, match=message):
        symport.train(samples(), **{"batch": 20, "epochs": 1, "lr": 0.1, **options})


def test_ctrl_c_ends_a_run_that_can_go_on(tmp_path):
    program = textwrap.dedent(
        """
        import sys, numpy as np, symport
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(2000, 20)), rng.integers(0, 3, 2000)
        print("begun", flush=True)
        try:
            symport.train((X, y), layers=[20, 64, 3], batch=10, epochs=100000, lr=1e-4,
                          out=sys.argv[1])
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    directory = tmp_path / "run"
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(directory)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert child.stdout.readline() == "begun\n"
    deadline = time.monotonic() + 60
    while not (directory / "config.toml").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert out == "interrupted\n"
    run = symport.read_run(directory)
    assert run.status == "interrupted"
    epochs = int(run.trace["epoch"][-1]) + 1
    resumed = symport.train(resume=directory, epochs=epochs)
    assert resumed.status == "step_limit"
    assert resumed.trace["epoch"][-1] == epochs


def test_ctrl_c_ends_a_teleport():
    program = textwrap.dedent(
        """
        import numpy as np, symport
        rng = np.random.default_rng(0)
        W = [rng.normal(size=(200, 200)) / 14 for _ in range(3)]
        before = [w.copy() for w in W]
        X, Y = rng.normal(size=(100, 200)), rng.normal(size=(100, 200))
        print("begun", flush=True)
        try:
            symport.teleport(
                W, X, Y, activation="leaky_relu", loss="half_sum_squares", lr=1e-6,
                symmetry="gl", search="ascent", search_steps=1000000,
            )
            print("ended", flush=True)
        except KeyboardInterrupt:
            assert all(np.array_equal(a, b) for a, b in zip(W, before))
            print("interrupted", flush=True)
        """
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert child.stdout.readline() == "begun\n"
    time.sleep(1.0)
    os.kill(child.pid, signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert out == "interrupted\n"
