# SPDX-License-Identifier: MIT
"""The printed table of a RoundTrip."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._rewriting import RoundTrip


def describe(trip: RoundTrip) -> str:
    """The layers that are stepped, and those that are left alone with the reason."""
    table = [("layer", "kind", "inputs", "outputs", "parameters")]
    left = dict(trip._left_alone)
    count = 0
    for layer in trip._layers:
        if not layer.weight.requires_grad:
            left[layer.name] = f"{layer.kind}: frozen"
            continue
        if layer.name in trip._skipped:
            left[layer.name] = f"{layer.kind}: at the last step, {trip._skipped[layer.name]}"
            continue
        size = sum(p.numel() for p in layer.parameters())
        count += size
        inputs = f"{layer.inputs}{' + 1' if layer.steps_bias else ''}"
        kind = layer.kind if layer.groups == 1 else f"{layer.kind}, {layer.groups} groups"
        table.append((layer.name or "(model)", kind, inputs, str(layer.outputs), f"{size:,}"))
    for pair in trip._pairs:
        size = pair.A.numel() + pair.B.numel()
        count += size
        ends = (str(pair.A.shape[1:].numel()), str(pair.B.shape[0]))
        table.append((pair.name, f"pair of rank {pair.A.shape[0]}", *ends, f"{size:,}"))
    total = sum(p.numel() for p in trip._model.parameters())
    rows = "all" if trip.rows is None else f"at most {trip.rows}"
    lines = [
        f"RoundTrip: damping {trip.damping:g}, kernel {trip.kernel}, {rows} rows, "
        f"{count:,} of {total:,} parameters"
    ]
    widths = [max(len(row[i]) for row in table) for i in range(5)]
    for name, kind, *numbers in table:
        cells = [name.ljust(widths[0]), kind.ljust(widths[1])]
        cells += [n.rjust(w) for n, w in zip(numbers, widths[2:], strict=True)]
        lines.append("  " + "  ".join(cells))
    if left:
        lines.append("left alone:")
        width = max(map(len, left))
        lines += [f"  {name.ljust(width)}  {why}" for name, why in left.items()]
    return "\n".join(lines)
