# SPDX-License-Identifier: MIT
"""Symport for PyTorch."""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "symport.torch needs PyTorch: pip install 'symport[torch]'", name="torch"
    ) from error

from .balance import balance
from .certificate import Certificate, GroupMove
from .find import find_symmetries
from .round_trip import RoundTrip
from .slots import Slot
from .symmetries import Element, Group, Refusal, Symmetries
from .teleport import teleport
from .teleporter import Teleporter
from .transport import declare_state

__all__ = [
    "Certificate",
    "Element",
    "Group",
    "GroupMove",
    "Refusal",
    "RoundTrip",
    "Slot",
    "Symmetries",
    "Teleporter",
    "balance",
    "declare_state",
    "find_symmetries",
    "teleport",
]
