# SPDX-License-Identifier: MIT
"""Our reader and writer of .safetensors against the format's own package, in both directions."""

from __future__ import annotations

import numpy as np
import pytest
from optional_packages import optional
from test_gauge import tensors

import symport

KINDS = ("float16", "float32", "float64", "int8", "int64", "uint8", "bool")


def gauge(path):
    symport.write_gauge(path, symport.hidden_unit_groups(tensors(), "relu"))
    return path


def test_files_of_the_package_are_read_and_ours_are_read_by_it(tmp_path):
    numpy_files = optional("safetensors.numpy")
    rng = np.random.default_rng(4)
    others = {f"other_{kind}": (5 * rng.normal(size=(3, 0, 2))).astype(kind) for kind in KINDS}
    others |= {f"full_{kind}": (5 * rng.normal(size=(4, 3))).astype(kind) for kind in KINDS}
    others["scalar"] = np.array(2.5, np.float32)
    given = {**tensors(), **others}
    source, out = tmp_path / "model.safetensors", tmp_path / "out.safetensors"
    numpy_files.save_file(given, source, metadata={"format": "pt", "name": "Zoë"})
    certificate = symport.balance_file(source, gauge(tmp_path / "gauge.json"), out)
    assert certificate.accepted and certificate.bit_exact

    found = numpy_files.load_file(out)
    expected = tensors()
    symport.balance(expected, activation="relu")
    assert found.keys() == given.keys()
    for name, array in found.items():
        wanted = expected.get(name, given[name])
        assert array.dtype == wanted.dtype and array.shape == np.shape(wanted), name
        assert np.array_equal(array, wanted), name
    with optional("safetensors").safe_open(out, "numpy") as file:
        assert file.metadata() == {"format": "pt", "name": "Zoë"}


def test_what_the_package_refuses_is_refused(tmp_path):
    package = optional("safetensors")
    numpy_files = optional("safetensors.numpy")
    numpy_files.save_file(tensors(), tmp_path / "good.safetensors")
    good = (tmp_path / "good.safetensors").read_bytes()
    length = int.from_bytes(good[:8], "little")
    header = good[8 : 8 + length]
    rng = np.random.default_rng(5)
    refused = 0
    gauge_path = gauge(tmp_path / "gauge.json")
    for case in range(200):
        place = int(rng.integers(0, len(header)))
        changed = bytearray(good)
        changed[8 + place] = int(rng.integers(32, 127))
        path = tmp_path / "changed.safetensors"
        path.write_bytes(bytes(changed))
        try:
            numpy_files.load_file(path)
        except (package.SafetensorError, KeyError, ValueError, TypeError, OSError):
            refused += 1
            with pytest.raises(ValueError):
                symport.balance_file(path, gauge_path, tmp_path / f"out{case}.safetensors")
    assert refused > 20
