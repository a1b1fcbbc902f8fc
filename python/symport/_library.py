# SPDX-License-Identifier: MIT
"""The compiled part, imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def core() -> ModuleType:
    """`symport._core`. Raises ImportError that says how to build it."""
    try:
        return import_module("symport._core")
    except ModuleNotFoundError as error:
        if error.name != "symport._core":
            raise
        raise ImportError(
            "symport was imported from its sources, without its compiled part: "
            "run `pip install .` in the repository"
        ) from None
