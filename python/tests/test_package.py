# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import readme_example

import symport


def test_the_version_is_that_of_the_library(root):
    text = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    assert symport.__version__ == re.search(r"project\(symport VERSION ([0-9.]+)", text)[1]


def test_importing_symport_imports_no_torch():
    program = "import sys, symport; symport.optimize('booth'); print('torch' in sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert out.stdout == "False\n"


def test_the_package_is_typed():
    folder = Path(symport.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_core.pyi").read_text(encoding="utf-8")
    assert "class Certificate" in stub and "def loss_before(self) -> float" in stub


def test_everything_in_all_is_there():
    for name in symport.__all__:
        assert getattr(symport, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'teleprt'"):
        symport.teleprt  # noqa: B018


def test_the_sources_say_how_to_build_them(root):
    program = "import symport; symport.optimize('booth')"
    out = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(root / "python")},
    )
    assert out.returncode == 1
    assert "pip install ." in out.stderr


def test_the_program_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(readme_example(), "README.md", "exec"), {})
    assert (tmp_path / "report.html").exists()
