# SPDX-License-Identifier: MIT
"""Arrays that a teleport must not touch: shared, read-only, too coarse, or of the wrong kind."""

import numpy as np
import pytest

import symport


def _network(dtype=np.float64, seed=0):
    random = np.random.default_rng(seed)
    weights = {
        "W1": random.standard_normal((4, 4)).astype(dtype),
        "W2": random.standard_normal((4, 4)).astype(dtype),
    }
    return weights, random.standard_normal((10, 4)), random.standard_normal((10, 4))


def _teleport(weights, X, Y, **more):
    return symport.teleport(weights, X, Y, activation="relu", loss="mse", lr=1e-2, **more)


def _loss(weights, X, Y):
    W1, W2 = (np.asarray(weights[name], dtype=np.longdouble) for name in ("W1", "W2"))
    return np.sum((np.maximum(X @ W1.T, 0) @ W2.T - Y) ** 2)


def test_arrays_that_share_memory_are_refused_before_anything_moves():
    _, X, Y = _network()
    W = np.arange(16.0).reshape(4, 4)
    strip = np.arange(20.0)
    for weights in (
        {"W1": W, "W2": W},
        {"W1": W, "W2": W.T},
        {"W1": strip[:16].reshape(4, 4), "W2": strip[4:].reshape(4, 4)},
        {
            "W1": np.broadcast_to(W[0], (4, 4)).copy(),
            "W2": np.lib.stride_tricks.as_strided(strip, (4, 4), (8, 8)),
        },
    ):
        before = {name: array.copy() for name, array in weights.items()}
        with pytest.raises(ValueError, match="share memory"):
            _teleport(weights, X, Y)
        assert all(np.array_equal(weights[name], before[name]) for name in weights)


def test_read_only_arrays_are_refused():
    weights, X, Y = _network()
    weights["W1"].flags.writeable = False
    with pytest.raises(ValueError, match="can be written"):
        _teleport(weights, X, Y)


def test_transposed_and_strided_arrays_are_moved_where_they_are():
    weights, X, Y = _network()
    frame = np.zeros((8, 8))
    frame[::2, ::2] = weights["W2"]
    weights = {"W1": np.asfortranarray(weights["W1"]), "W2": frame[::2, ::2]}
    before = _loss(weights, X, Y)
    certificate = _teleport(weights, X, Y)
    assert certificate.accepted
    assert abs(_loss(weights, X, Y) - before) <= 1e-8 * before
    assert not frame[1::2].any()


def test_a_certificate_in_double_is_about_the_floats_that_are_stored():
    weights, X, Y = _network(np.float32)
    weights["W1"] *= np.float32(1e25)
    weights["W2"] *= np.float32(1e-25)
    before = {name: array.copy() for name, array in weights.items()}
    certificate = _teleport(weights, X, Y, precision="double", kappa=1e20)
    if certificate.accepted:
        old, new = _loss(before, X, Y), _loss(weights, X, Y)
        assert abs(new - old) <= 1e-3 * old
    else:
        assert all(np.array_equal(weights[name], before[name]) for name in weights)
    assert all(np.isfinite(array).all() for array in weights.values())


@pytest.mark.parametrize("dtype", [np.float16, ">f4", np.complex128])
def test_other_kinds_of_numbers_are_named(dtype):
    weights, X, Y = _network()
    weights["W1"] = weights["W1"].astype(dtype)
    with pytest.raises((ValueError, TypeError), match="dtype"):
        symport.balance(weights, activation="relu")
    with pytest.raises((ValueError, TypeError), match="found arrays of"):
        _teleport(weights, X, Y)


def test_doubles_are_not_rounded_to_floats():
    weights, X, Y = _network()
    before = {name: array.copy() for name, array in weights.items()}
    with pytest.raises(ValueError, match="precision: found 'float' for weights in float64"):
        _teleport(weights, X, Y, precision="float")
    assert all(np.array_equal(weights[name], before[name]) for name in weights)


def test_numbers_of_threads_below_one_are_refused():
    weights, X, Y = _network()
    with pytest.raises(ValueError, match="threads"):
        symport.round_trip(weights, X, Y, activation="relu", loss="mse", threads=-5)


def _teleports(count, seed):
    """Random teleports, judged by an independent evaluation of the arrays in extended precision."""
    random = np.random.default_rng(seed)
    outside = accepted = 0
    for _ in range(count):
        dtype = random.choice([np.float32, np.float64])
        weights, X, Y = _network(dtype, int(random.integers(2**31)))
        scale = dtype(2.0 ** random.integers(-12, 13))
        weights["W1"] *= scale
        weights["W2"] /= scale
        if random.random() < 0.3:
            weights["W2"] = np.asfortranarray(weights["W2"])
        before = {name: array.copy() for name, array in weights.items()}
        certificate = _teleport(
            weights,
            X,
            Y,
            kappa=float(2.0 ** random.integers(1, 41)),
            precision=str(random.choice(["float", "double"]) if dtype == np.float32 else "double"),
            seed=int(random.integers(1000)),
        )
        old, new = _loss(before, X, Y), _loss(weights, X, Y)
        tolerance = 1e-3 if dtype == np.float32 else 1e-8
        if certificate.accepted:
            accepted += 1
            outside += not abs(new - old) <= tolerance * old
        else:
            outside += not all(np.array_equal(weights[n], before[n]) for n in weights)
    return outside, accepted


def test_random_teleports_keep_what_their_certificates_say():
    outside, accepted = _teleports(200, 1)
    assert outside == 0 and accepted > 20


@pytest.mark.slow
def test_ten_thousand_random_teleports_keep_what_their_certificates_say():
    outside, accepted = _teleports(10_000, 2)
    print(accepted, "accepted")
    assert outside == 0 and accepted > 1000
