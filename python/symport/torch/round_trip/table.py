# SPDX-License-Identifier: MIT
"""The printed table of a RoundTrip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import traits

if TYPE_CHECKING:
    from .optimizer import RoundTrip


def describe(trip: RoundTrip) -> str:
    """The optimizers, what is stepped in a gauge, and the rest with the reason."""
    hidden, raw = trip.power
    lines = [
        f"RoundTrip: power {hidden:g} ({raw:g} for raw inputs), damping {trip.damping:g},"
        f" refresh {trip.refresh}, length {trip.length}"
    ]
    for optimizer in trip.optimizers:
        kinds = traits.state_kinds(optimizer)
        state = "keeps all its state at a refresh: how it moves is not known"
        if kinds is not None:
            moving = [k for k, kind in kinds.items() if kind in traits.MOVING]
            state = f"{', '.join(moving)} moves with the gauge" if moving else "no state moves"
        lines.append(f"  {type(optimizer).__name__}: {state}")
    stepped, skipped = trip.stepped, trip.skipped
    total = sum(p.numel() for p in trip._model.parameters())
    lines.append(f"stepped in a gauge: {sum(stepped.values()):,} of {total:,} parameters")
    width = max(map(len, [*stepped, *skipped]), default=0)
    lines += [f"  {name.ljust(width)}  {count:,}" for name, count in stepped.items()]
    if skipped:
        lines.append("stepped as without a round trip:")
        lines += [f"  {name.ljust(width)}  {why}" for name, why in skipped.items()]
    return "\n".join(lines)
