# SPDX-License-Identifier: MIT
"""Packages that the pinned environment does not have."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest


def optional(name: str) -> Any:
    """A package of python/requirements-trainers.txt: ./check --trainers has it, other runs skip the
    test."""
    if os.environ.get("SYMPORT_TRAINERS"):
        return importlib.import_module(name)
    return pytest.importorskip(name)
