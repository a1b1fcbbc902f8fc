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


def _laid_out(weights, layout, random):
    """The same numbers as transposed, strided, read-only, aliased or overlapping arrays."""
    W1, W2 = weights["W1"], weights["W2"]
    if layout == "transposed":
        return {"W1": np.asfortranarray(W1), "W2": W2}
    if layout == "strided":
        frame = np.zeros((8, 12), W1.dtype)
        frame[::2, ::3], frame[1::2, 1::3] = W1, W2
        return {"W1": frame[::2, ::3], "W2": frame[1::2, 1::3][::-1]}
    if layout == "read-only":
        weights[random.choice(["W1", "W2"])].flags.writeable = False
    elif layout == "aliased":
        return {"W1": W1, "W2": W1 if random.random() < 0.5 else W1.T}
    elif layout == "overlapping":
        strip = np.concatenate([W1.ravel(), W2.ravel()])
        shift = int(random.integers(1, 16))
        return {"W1": strip[:16].reshape(4, 4), "W2": strip[shift : shift + 16].reshape(4, 4)}
    return weights


LAYOUTS = ["plain"] * 4 + ["transposed", "strided", "read-only", "aliased", "overlapping"]


def _teleports(count, seed):
    """Random teleports, judged by an independent evaluation of the arrays in extended precision:
    how many are outside of what was said, accepted, and refused before anything was tried."""
    random = np.random.default_rng(seed)
    outside = accepted = refused = 0
    for _ in range(count):
        dtype = random.choice([np.float32, np.float64])
        weights, X, Y = _network(dtype, int(random.integers(2**31)))
        scale = dtype(2.0 ** random.integers(-12, 13))
        weights["W1"] *= scale
        weights["W2"] /= scale
        layout = str(random.choice(LAYOUTS))
        weights = _laid_out(weights, layout, random)
        before = {name: array.copy() for name, array in weights.items()}
        options = {
            "kappa": float(2.0 ** random.integers(1, 41)),
            "precision": str(
                random.choice(["float", "double"]) if dtype == np.float32 else "double"
            ),
            "seed": int(random.integers(1000)),
        }
        try:
            moved = _teleport(weights, X, Y, **options).accepted
            wrong = layout in ("read-only", "aliased", "overlapping")
        except ValueError:
            moved, wrong = False, layout in ("plain", "transposed", "strided")
            refused += 1
        old, new = _loss(before, X, Y), _loss(weights, X, Y)
        tolerance = 1e-3 if dtype == np.float32 else 1e-8
        if moved:
            accepted += 1
            wrong |= not abs(new - old) <= tolerance * old
        else:
            wrong |= not all(np.array_equal(weights[n], before[n]) for n in weights)
        outside += wrong
    return outside, accepted, refused


def test_random_teleports_keep_what_their_certificates_say():
    outside, accepted, refused = _teleports(200, 1)
    assert outside == 0 and accepted > 20 and refused > 20


@pytest.mark.slow
def test_ten_thousand_random_teleports_keep_what_their_certificates_say():
    outside, accepted, refused = _teleports(10_000, 2)
    print(accepted, "accepted,", refused, "refused as arrays")
    assert outside == 0 and accepted > 1000 and refused > 1000
