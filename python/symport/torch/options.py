# SPDX-License-Identifier: MIT
"""Options of a teleport; their defaults stand here and nowhere else."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, TypedDict

OBJECTIVES = ("balance", "alternate", "gradient", "flat", "decrease")


class OptionArguments(TypedDict, total=False):
    """The fields of `Options` as keyword arguments of `teleport` and `Teleporter`."""

    objective: str
    tolerance: float | None
    powers_of_two: bool
    kappa: float
    scale: float | None
    rehearsal: int
    across_decay: bool


@dataclass(frozen=True)
class Options:
    """How to choose a destination, and what to accept."""

    objective: str = "balance"
    #: Largest |L' - L| / |L|; None: 1e-10 in double precision, 1e-5 in float, 1e-2 in half.
    tolerance: float | None = None
    #: Scalings by powers of two, which change no bit of a mantissa.
    powers_of_two: bool = True
    #: gradient: the singular values of an element stay within [1/kappa, kappa].
    kappa: float = 2.0
    #: alternate: a step on the free side moves the product as a rate `scale` times larger would;
    #: None: measured where there is a closure and the optimizer is SGD, else both sides are made
    #: equally large.
    scale: float | None = None
    #: decrease: how many real steps of the optimizer each candidate takes before it is judged.
    rehearsal: int = 1
    #: Move groups whose parameters have different weight decays.
    across_decay: bool = False

    @classmethod
    def of(cls, arguments: dict[str, Any]) -> Options:
        names = [field.name for field in fields(cls)]
        for name in arguments:
            if name not in names:
                raise TypeError(f"{name}: no such option; there are {', '.join(names)}")
        return cls(**arguments)

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ValueError(
                f"objective: {self.objective!r}; expected one of {', '.join(OBJECTIVES)}"
            )
        if self.tolerance is not None and not self.tolerance >= 0:
            raise ValueError(f"tolerance: {self.tolerance}; expected a number >= 0")
        if not self.kappa > 1 or math.isinf(self.kappa):
            raise ValueError(f"kappa: {self.kappa}; expected a number > 1")
        if self.powers_of_two and math.frexp(self.kappa)[0] != 0.5:
            raise ValueError(
                f"kappa: {self.kappa} is not a power of two; choose 2, 4, ... or "
                "powers_of_two=False"
            )
        if self.scale is not None and not self.scale > 0:
            raise ValueError(f"scale: {self.scale}; expected a number > 0")
        if self.rehearsal < 1:
            raise ValueError(f"rehearsal: {self.rehearsal}; expected at least 1 step")
