# SPDX-License-Identifier: MIT
"""What each ATen operation does to the scales of its operands (charges.py).

A rule returns the terms of each output. An operation without a rule must not be scaled: its
operands get charge zero. Modulo 2 (signs) the rules for odd and even functions take the place of
homogeneity.
"""

from __future__ import annotations

from ..charges import Terms
from ..recorder import Operation
from . import entries, moves, norms, products  # noqa: F401  (they fill the table)
from .base import RULES, Context, veto

__all__ = ["Context", "apply_rule"]


def apply_rule(context: Context, op: Operation) -> list[Terms]:
    function = RULES.get(op.name)
    if function is None:
        return veto(context, op)
    try:
        return function(context, op)
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
        # An overload that the rule was not written for; equations that it added only forbid more.
        return veto(context, op)
