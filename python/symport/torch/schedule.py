# SPDX-License-Identifier: MIT
"""At which steps a Teleporter teleports."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

#: Every so many steps, at a set of steps, wherever a function of the step says so, or a text in the
#: form of the command line; steps count from 0.
Schedule = int | str | Collection[int] | Callable[[int], bool]

FORMS = (
    "expected a number k (steps k, 2k, ...), a set of steps, a function of the step, or a text: "
    "'5', '0/10/20', '0..40:10', 'every:100' (0, 100, ...), 'every:100+99' (99, 199, ...), 'never'"
)

_EVERY = re.compile(r"every:(\d+)(?:\+(\d+))?")
_RANGE = re.compile(r"(\d+)(?:\.\.(\d+)(?::(\d+))?)?")


def due_at(schedule: Schedule) -> Callable[[int], bool]:
    """The schedule as a function of the step; raises ValueError for what is none."""
    if isinstance(schedule, str):
        return _parsed(schedule)
    if isinstance(schedule, int) and not isinstance(schedule, bool):
        period = schedule
        if period < 1:
            raise ValueError(f"schedule: every {period} steps; expected at least 1")
        return lambda step: step % period == 0 and (step > 0 or period == 1)
    if isinstance(schedule, Collection):
        steps = schedule if isinstance(schedule, range) else frozenset(schedule)
        for step in () if isinstance(steps, range) else steps:
            if isinstance(step, bool) or not isinstance(step, int) or step < 0:
                raise ValueError(f"schedule: the step {step!r}; expected whole numbers >= 0")
        return lambda step: step in steps
    if callable(schedule):
        return lambda step: bool(schedule(step))
    raise ValueError(f"schedule: {schedule!r}; {FORMS}")


def _parsed(text: str) -> Callable[[int], bool]:
    if text == "never":
        return lambda step: False
    if text == "auto":
        raise ValueError(
            "schedule: 'auto' is known to the command line only; use objective='decrease' with a "
            "closure and a number of steps, which teleports only where it pays"
        )
    ranges: list[range] = []
    for part in re.split("[,/]", text):
        every, steps = _EVERY.fullmatch(part), _RANGE.fullmatch(part)
        if every and int(every[1]) > 0:
            ranges.append(range(int(every[2] or 0), 2**62, int(every[1])))
        elif steps and int(steps[3] or 1) > 0 and int(steps[2] or steps[1]) >= int(steps[1]):
            ranges.append(range(int(steps[1]), int(steps[2] or steps[1]) + 1, int(steps[3] or 1)))
        else:
            raise ValueError(f"schedule: {text!r}; {FORMS}")
    return lambda step: any(step in r for r in ranges)
