# SPDX-License-Identifier: MIT
"""What a teleport did, with the numbers to judge it by."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

#: How the reason begins where the model is already where the teleport would go.
NOTHING_TO_DO = "nothing to do"


@dataclass(frozen=True)
class GroupMove:
    """What a teleport did with one group of the symmetries."""

    where: str
    kind: str
    size: int
    moved: bool
    #: Largest stretch of the element over its smallest (1 for an isometry).
    condition: float = 1.0
    #: Every entry of the element is a power of two (scalings), a sign or a permutation.
    powers_of_two: bool = False
    #: The Noether residual in the gradient at hand: 0 up to rounding for a symmetry of the loss
    #: whose gradient that is; None where there was no gradient.
    residual: float | None = None
    #: The residual of the proof, from `find_symmetries`; None for a group written by hand or
    #: from a file that was loaded without example inputs.
    proof: float | None = None
    #: Why the group was left alone; empty when it moved.
    reason: str = ""


@dataclass
class Certificate:
    """What a teleport did. A refused one left every bit as it was.

    Losses are those of the closure; they are None where there was none (`balance`, or a
    `Teleporter` without a closure), and then the invariance rests on the proof of the groups and on
    the residuals of the gradient at hand.
    """

    objective: str
    accepted: bool = False
    #: One line: what was done, or why the candidate was refused.
    reason: str = ""
    #: On which data the loss is kept, and what was evaluated.
    scope: str = ""
    loss_before: float | None = None
    #: At the candidate, also when it was refused.
    loss_after: float | None = None
    #: |L' - L| / |L|: 0 when nothing changed, infinity from a loss of 0.
    drift: float | None = None
    #: The largest drift that is accepted.
    tolerance: float | None = None
    #: What rounding did to the weights, seen in the old gauge: the model computes what the old
    #: weights with this relative error would, on any data. 0 where every bit comes back. Where no
    #: loss was evaluated, it must not exceed the tolerance.
    rounding: float = 0.0
    #: The drift exceeds the tolerance, but not what rounding the starting parameters does to L.
    at_rounding_level: bool = False
    #: |w|^2 of all trainable parameters.
    squared_norm_before: float = 0.0
    squared_norm_after: float = 0.0
    #: |dL/dw|^2, where there was a gradient.
    grad_sq_before: float | None = None
    grad_sq_after: float | None = None
    #: The loss after the optimizer's real next steps, without and with the teleport.
    next_loss_plain: float | None = None
    next_loss: float | None = None
    #: Undoing the element gives back every bit of every tensor, and the loss is bitwise equal where
    #: it was evaluated. Also true where there was nothing to do; false where a move was refused.
    bit_exact: bool = False
    groups: list[GroupMove] = field(default_factory=list)
    #: How the optimizer's state was moved: its key -> "exact", "approximate: ..." or "kept".
    state: dict[str, str] = field(default_factory=dict)
    #: Calls of the closure; one with a gradient counts as one more.
    evaluations: int = 0
    seconds: float = 0.0
    #: Calls of `Teleporter.step` before this one.
    step: int = 0

    @property
    def residual(self) -> float | None:
        """The worst Noether residual of the groups that moved."""
        seen = [g.residual for g in self.groups if g.moved and g.residual is not None]
        return max(seen) if seen else None

    @property
    def condition(self) -> float:
        """The worst condition of an element that moved."""
        return max((g.condition for g in self.groups if g.moved), default=1.0)

    def _verdict(self) -> str:
        if self.reason.startswith(NOTHING_TO_DO):
            return self.reason
        return f"{'accepted' if self.accepted else 'refused'}: {self.reason}"

    def _bit_exact(self) -> str:
        if not self.bit_exact:
            return "no"
        if not self.accepted:
            return "yes: nothing was moved"
        what = "the scaling of the parameters"
        return f"yes: {what}" + (" and the loss" if self.loss_after is not None else "")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def to_json(self) -> str:
        """One line of JSON, the form of a line in `teleports.jsonl`."""
        return json.dumps(self.to_dict(), sort_keys=True)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Certificate:
        fields = dict(fields)
        fields["groups"] = [GroupMove(**g) for g in fields["groups"]]
        return cls(**fields)

    def __str__(self) -> str:
        moved = sum(g.moved for g in self.groups)
        lines = [
            f"teleport ({self.objective}): {self._verdict()}",
            f"  scope         {self.scope}",
            f"  groups        {moved} of {len(self.groups)} moved"
            + (f", condition up to {self.condition:.3g}" if moved else "")
            + (f", residual up to {self.residual:.1e}" if self.residual is not None else ""),
            f"  bit-exact     {self._bit_exact()}"
            + (f"; rounding {self.rounding:.1e}" if self.rounding else ""),
            f"  |w|^2         {self.squared_norm_before:.6g} -> {self.squared_norm_after:.6g}",
        ]
        if self.loss_before is not None and self.loss_after is not None:
            lines.append(
                f"  loss          {self.loss_before:.9g} -> {self.loss_after:.9g}, "
                f"drift {self.drift:.1e}"
                + (" (at rounding level)" if self.at_rounding_level else "")
                + (f", allowed {self.tolerance:.0e}" if self.tolerance is not None else "")
            )
        if self.grad_sq_before is not None and self.grad_sq_after is not None:
            lines.append(f"  |grad|^2      {self.grad_sq_before:.6g} -> {self.grad_sq_after:.6g}")
        if self.next_loss is not None:
            lines.append(
                f"  next loss     {self.next_loss:.9g}, without the teleport "
                f"{self.next_loss_plain:.9g}"
            )
        for key, how in self.state.items():
            lines.append(f"  state         {key}: {how}")
        left = [g for g in self.groups if not g.moved and g.reason]
        for g in left[:8]:
            lines.append(f"  left alone    {g.where or g.kind}: {g.reason}")
        if len(left) > 8:
            lines.append(f"  left alone    and {len(left) - 8} more")
        return "\n".join(lines)
