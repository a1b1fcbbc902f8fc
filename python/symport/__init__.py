# SPDX-License-Identifier: MIT
"""Symmetry teleportation on NumPy arrays.

An optimizer that now and then jumps along a symmetry of the loss, to a point with the same loss
from which the next steps go down faster. For PyTorch models: ``import symport.torch``, which this
module never imports.
"""

from typing import TYPE_CHECKING, Any

from symport.functions import optimize, options
from symport.gauge import Group, Slot, hidden_unit_groups, write_gauge
from symport.networks import (
    GaugeCertificate,
    balance,
    balance_file,
    gradient,
    round_trip,
    teleport,
    train,
    white_direction,
)
from symport.runs import Run, read_run, report, write_run

if TYPE_CHECKING:
    from symport._core import Certificate

__all__ = [
    "Certificate",
    "GaugeCertificate",
    "Group",
    "Run",
    "Slot",
    "balance",
    "balance_file",
    "gradient",
    "hidden_unit_groups",
    "optimize",
    "options",
    "read_run",
    "report",
    "round_trip",
    "teleport",
    "train",
    "white_direction",
    "write_gauge",
    "write_run",
]


def __getattr__(name: str) -> Any:
    # What needs the compiled part is imported when it is asked for.
    if name in ("Certificate", "__version__"):
        from symport._library import core

        return getattr(core(), name)
    raise AttributeError(f"module 'symport' has no attribute '{name}'")
