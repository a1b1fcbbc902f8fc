# SPDX-License-Identifier: MIT
"""Symport for PyTorch."""

from .find import find_symmetries
from .slots import Slot
from .symmetries import Element, Group, Refusal, Symmetries

__all__ = ["Element", "Group", "Refusal", "Slot", "Symmetries", "find_symmetries"]
