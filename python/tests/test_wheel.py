# SPDX-License-Identifier: MIT
"""The wheel in a clean environment: compiles the library, so it takes long."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
import zipfile

import pytest
from conftest import readme_example

pytestmark = pytest.mark.slow


def run(*words, **options):
    return subprocess.run(
        [str(word) for word in words], check=True, capture_output=True, text=True, **options
    ).stdout


def test_the_wheel_runs_the_readme_in_a_clean_environment(root, tmp_path):
    run(root / "scripts" / "package", "wheel", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    (library,) = [name for name in names if name.endswith(".so")]
    assert b"libtorch" not in archive.read(library) and b"libc10" not in archive.read(library)
    assert any(name.startswith("symport/_core.") and name.endswith(".so") for name in names)
    assert "symport/_core.pyi" in names and "symport/py.typed" in names
    assert not any(name.startswith(("include/", "lib/", "bin/")) for name in names)

    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--disable-pip-version-check", wheel)
    installed = run(python, "-m", "pip", "list", "--format=freeze").lower()
    assert "numpy" in installed and "torch" not in installed
    out = run(python, "-c", readme_example(), cwd=tmp_path)
    assert out and (tmp_path / "report.html").exists()
    without = subprocess.run(
        [str(python), "-c", "import symport.torch"], capture_output=True, text=True, check=False
    )
    assert "symport.torch needs PyTorch: pip install 'symport[torch]'" in without.stderr


def test_the_sdist_has_all_that_a_build_needs(root, tmp_path):
    run(root / "scripts" / "package", "sdist", tmp_path)
    (archive,) = tmp_path.glob("*.tar.gz")
    names = {name.split("/", 1)[-1] for name in tarfile.open(archive).getnames()}
    for needed in (
        "pyproject.toml",
        "CMakeLists.txt",
        "python/CMakeLists.txt",
        "python/src/module.cpp",
        "python/symport/__init__.py",
        "src/core/version.cpp",
        "include/symport/symport.hpp",
        "lab/CMakeLists.txt",
        "web/colors.css",
        "web/report.css",
        "cmake/embed_web.cmake",
        "README.md",
        "LICENSE",
    ):
        assert needed in names, needed
    assert not any(name.startswith(("build/", "tests/web/node_modules/")) for name in names)
    assert sys.version_info >= (3, 10)
