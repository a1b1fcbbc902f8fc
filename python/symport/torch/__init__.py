# SPDX-License-Identifier: MIT
"""Symport for PyTorch."""

from .round_trip import RoundTrip

__all__ = ["RoundTrip"]
