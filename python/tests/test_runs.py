# SPDX-License-Identifier: MIT
from __future__ import annotations

import numpy as np
import pytest

import symport


def sphere(x):
    return float(x @ x)


def test_a_run_is_written_read_and_reported(tmp_path):
    run = symport.optimize("booth", teleport=4)
    symport.write_run(run, tmp_path / "booth")
    again = symport.read_run(tmp_path / "booth")
    assert again.status == run.status
    for name, column in run.trace.items():
        np.testing.assert_array_equal(again.trace[name], column)
    assert again.teleports[0].reason == run.teleports[0].reason
    page = symport.report([run, tmp_path / "booth"], tmp_path / "report.html", title="Two of them")
    text = open(page, encoding="utf-8").read()
    assert "Two of them" in text and text.rstrip().endswith("</html>")
    with pytest.raises(ValueError, match="exists; force=True"):
        symport.report(run, page)
    with pytest.raises(ValueError, match="directory"):
        symport.write_run(run, tmp_path / "booth")
    symport.write_run(run, tmp_path / "booth", force=True)
    with pytest.raises(ValueError, match="was read from a directory"):
        symport.write_run(again, tmp_path / "copy")


def test_a_run_on_ones_own_function_is_written_and_reported(tmp_path):
    run = symport.optimize(sphere, lambda x: 2.0 * x, [1.0, 2.0], lr=0.1, steps=20)
    symport.write_run(run, tmp_path / "sphere")
    again = symport.read_run(tmp_path / "sphere")
    assert 'function = "own:sphere"' in again.config
    np.testing.assert_array_equal(again.trace["x1"], run.trace["x1"])
    symport.report(tmp_path / "sphere", tmp_path / "report.html")
    assert "own:sphere" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_training_run_on_arrays_keeps_its_samples(tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    run = symport.train((X, Y), layers=[3, 4, 2], steps=10, lr=1e-3)
    symport.write_run(run, tmp_path / "later")
    written = symport.train((X, Y), layers=[3, 4, 2], steps=10, lr=1e-3, out=tmp_path / "now")
    for directory in ("later", "now"):
        kept = np.load(tmp_path / directory / "data.npz")
        np.testing.assert_array_equal(kept["X"], X)
        again = symport.read_run(tmp_path / directory)
        assert str(tmp_path / directory / "data.npz") in again.config
        np.testing.assert_array_equal(again.weights["W1"], run.weights["W1"])
    longer = symport.train(resume=tmp_path / "now", steps=20)
    assert longer.steps == 20 and longer.loss < written.loss
    symport.report([tmp_path / "later", longer], tmp_path / "report.html")


def test_directories_that_are_no_runs_say_so(tmp_path):
    with pytest.raises(ValueError, match="config.toml"):
        symport.read_run(tmp_path)
    with pytest.raises(ValueError, match="does not exist"):
        symport.report(tmp_path / "none", tmp_path / "report.html")
    with pytest.raises(ValueError, match="runs: none"):
        symport.report([], tmp_path / "report.html")
