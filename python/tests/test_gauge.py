# SPDX-License-Identifier: MIT
from __future__ import annotations

import json

import numpy as np
import pytest

import symport


def tensors(dtype=np.float32):
    rng = np.random.default_rng(0)
    return {
        "W1": (16 * rng.normal(size=(8, 5))).astype(dtype),
        "b1": rng.normal(size=8).astype(dtype),
        "W2": rng.normal(size=(6, 8)).astype(dtype),
        "W3": (0.1 * rng.normal(size=(2, 6))).astype(dtype),
    }


def outputs(weights, X):
    h = np.maximum(X @ weights["W1"].T + weights["b1"], 0)
    return np.maximum(h @ weights["W2"].T, 0) @ weights["W3"].T


def test_powers_of_two_keep_every_bit_of_the_outputs():
    weights = tensors()
    X = np.random.default_rng(1).normal(size=(20, 5)).astype(np.float32)
    before = outputs(weights, X)
    certificate = symport.balance(weights, activation="relu")
    assert certificate.accepted and certificate.bit_exact
    assert np.array_equal(outputs(weights, X), before)
    assert certificate.squared_norm_after < 0.3 * certificate.squared_norm_before
    norm = sum(np.sum(array.astype(np.float64) ** 2) for array in weights.values())
    assert certificate.squared_norm_after == pytest.approx(norm, rel=1e-12)
    assert "no loss was evaluated" in certificate.scope
    assert [group.moved for group in certificate.groups] == [True, True]


def test_any_scales_reach_the_minimum():
    weights = tensors(np.float64)
    certificate = symport.balance(weights, activation="relu", scales="any")
    assert certificate.accepted and not certificate.bit_exact
    incoming = np.sum(weights["W1"] ** 2, axis=1) + weights["b1"] ** 2
    np.testing.assert_allclose(incoming, np.sum(weights["W2"] ** 2, axis=0), rtol=1e-8)
    np.testing.assert_allclose(
        np.sum(weights["W2"] ** 2, axis=1), np.sum(weights["W3"] ** 2, axis=0), rtol=1e-8
    )


def test_a_low_rank_pair_ends_at_its_nuclear_norm():
    rng = np.random.default_rng(2)
    pair = {"lora_A": 9 * rng.normal(size=(4, 20)), "lora_B": rng.normal(size=(10, 4))}
    product = pair["lora_B"] @ pair["lora_A"]
    group = symport.Group(
        "gl", 4, [symport.Slot("lora_A", 0, "g"), symport.Slot("lora_B", 1, "g^-T")]
    )
    certificate = symport.balance(pair, [group])
    assert certificate.accepted
    np.testing.assert_allclose(pair["lora_B"] @ pair["lora_A"], product, rtol=1e-9, atol=1e-9)
    nuclear = np.linalg.svd(product, compute_uv=False).sum()
    assert certificate.squared_norm_after == pytest.approx(2 * nuclear, rel=1e-10)
    symport.balance(pair, [group], objective="orthonormal")
    np.testing.assert_allclose(pair["lora_A"] @ pair["lora_A"].T, np.eye(4), atol=1e-12)


def test_axes_count_as_numpy_counts_them():
    # A convolution (out, in, h, w) whose channels are flattened: each is repeated h * w times.
    rng = np.random.default_rng(3)
    model = {"conv": rng.normal(size=(3, 2, 5, 5)), "fc": 50 * rng.normal(size=(4, 12))}
    before = {name: array.copy() for name, array in model.items()}
    group = symport.Group(
        "scale", 3, [symport.Slot("conv", 0, 1), symport.Slot("fc", 1, -1, repeat=4)]
    )
    symport.balance(model, [group], scales="any")
    s = model["conv"][:, 0, 0, 0] / before["conv"][:, 0, 0, 0]
    np.testing.assert_allclose(model["conv"], before["conv"] * s[:, None, None, None], rtol=1e-14)
    np.testing.assert_allclose(model["fc"], before["fc"] / np.repeat(s, 4), rtol=1e-14)
    np.testing.assert_allclose(
        np.sum(model["conv"] ** 2, axis=(1, 2, 3)),
        np.sum(model["fc"].reshape(4, 3, 4) ** 2, axis=(0, 2)),
        rtol=1e-12,
    )


def test_gauge_files_are_written_and_read(tmp_path):
    weights = tensors()
    path = tmp_path / "gauge.json"
    symport.write_gauge(path, symport.hidden_unit_groups(weights, "leaky_relu:0.1"))
    content = json.loads(path.read_text())
    assert content["version"] == 1 and len(content["groups"]) == 2
    assert set(content["groups"][0]["slots"][0]) == {
        "tensor", "axis", "start", "stop", "repeat", "rho",
    }  # fmt: skip
    by_file, by_content = tensors(), tensors()
    assert symport.balance(by_file, path).accepted
    assert symport.balance(by_content, content).accepted
    assert all(np.array_equal(by_file[name], by_content[name]) for name in by_file)


def test_files_of_weights(tmp_path):
    np.savez(tmp_path / "model.npz", **tensors())
    symport.write_gauge(tmp_path / "gauge.json", symport.hidden_unit_groups(tensors(), "relu"))
    arguments = tmp_path / "model.npz", tmp_path / "gauge.json", tmp_path / "out.safetensors"
    certificate = symport.balance_file(*arguments)
    assert certificate.accepted
    header = (tmp_path / "out.safetensors").read_bytes()
    length = int.from_bytes(header[:8], "little")
    entries = json.loads(header[8 : 8 + length])
    begin, end = entries["W2"]["data_offsets"]
    W2 = np.frombuffer(header[8 + length + begin : 8 + length + end], dtype="<f4").reshape(6, 8)
    expected = tensors()
    symport.balance(expected, activation="relu")
    assert np.array_equal(W2, expected["W2"])
    with pytest.raises(ValueError, match="exists; force=True"):
        symport.balance_file(*arguments)


def test_bad_gauges_are_value_errors_and_nothing_changes():
    weights = tensors()
    before = {name: array.copy() for name, array in weights.items()}
    for gauge, message in [
        ([symport.Group("scale", 8, [symport.Slot("W9", 0)])], 'the tensor "W9"'),
        ([symport.Group("scale", 9, [symport.Slot("W1", 0)])], "a range in 0 to 8"),
        ([symport.Group("scale", 8, [symport.Slot("W1", 2)])], "axis 2 of W1"),
        ({"version": 7, "groups": []}, "version"),
    ]:
        with pytest.raises(ValueError, match=message):
            symport.balance(weights, gauge)
    with pytest.raises(ValueError, match="allowed is a gauge, or the activation"):
        symport.balance(weights)
    with pytest.raises(ValueError, match="activation: found 'gelu'"):
        symport.balance(weights, activation="gelu")
    weights["W1"].flags.writeable = False
    with pytest.raises(ValueError, match="can be written"):
        symport.balance(weights, activation="relu")
    assert all(np.array_equal(before[name], weights[name]) for name in weights)
