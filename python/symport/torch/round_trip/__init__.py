# SPDX-License-Identifier: MIT
"""Any optimizer in a borrowed gauge."""

from .optimizer import RoundTrip

__all__ = ["RoundTrip"]
