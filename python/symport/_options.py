# SPDX-License-Identifier: MIT
"""Keyword arguments as the options of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any


def text_of(value: Any) -> str:
    """A value as the command line has it: [784, 512, 10] is "784,512,10"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, (list, tuple)) or hasattr(value, "tolist"):
        listed = value.tolist() if hasattr(value, "tolist") else value
        if isinstance(listed, (list, tuple)):
            return ",".join(text_of(entry) for entry in listed)
        value = listed
    return repr(value)


def texts(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Options that are not None, by the names of the command line: search_steps is search-steps."""
    return [
        (name.replace("_", "-"), text_of(value))
        for name, value in options.items()
        if value is not None
    ]
