# SPDX-License-Identifier: MIT
"""What must hold of NumPy arrays before they are read or moved in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]


def real(values: ArrayLike, what: str) -> Array:
    """An array of real numbers. An imaginary part would be lost silently."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what}: found the dtype {array.dtype}, allowed are real numbers")
    return array


def movable(arrays: Mapping[str, Any], what: str, others: Mapping[str, Any] | None = None) -> None:
    """Raises ValueError unless every array can be written without changing another one.

    `others` are arrays that must stay.
    """
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or not array.flags.writeable:
            raise ValueError(f"{what}, array {name}: allowed is a NumPy array that can be written")
        if _overlaps_itself(array):
            raise ValueError(
                f"{what}, array {name}: several of its entries share memory; pass a copy"
            )
    spans = [(*_span(array), name, array, True) for name, array in arrays.items()]
    for name, array in (others or {}).items():
        if isinstance(array, np.ndarray):
            spans.append((*_span(array), name, array, False))
    spans = [span for span in spans if span[3].size > 0]
    spans.sort(key=lambda span: span[:2])
    earlier: list[Any] = []  # those that reach beyond the start of the next one
    for span in spans:
        begin, _, name, array, moves = span
        earlier = [other for other in earlier if other[1] > begin]
        for _, _, other_name, other, other_moves in earlier:
            if (moves or other_moves) and _share(array, other):
                first, second = sorted((name, other_name))
                raise ValueError(
                    f"{what}: {first} and {second} share memory, so that moving one changes the "
                    "other; pass copies"
                )
        earlier.append(span)


def _span(array: Array) -> tuple[int, int]:
    """The first byte of an array and the one after its last."""
    reach = [
        stride * (extent - 1) for stride, extent in zip(array.strides, array.shape, strict=True)
    ]
    start = array.__array_interface__["data"][0]
    return start + sum(r for r in reach if r < 0), start + sum(
        r for r in reach if r > 0
    ) + array.itemsize


def _share(a: Array, b: Array) -> bool:
    try:
        return np.shares_memory(a, b, max_work=10**6)
    except RuntimeError:  # too hard to decide for strange strides
        return True


def _overlaps_itself(array: Array) -> bool:
    axes = sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1)
    reach = array.itemsize
    for stride, extent in axes:
        if stride < reach:
            break
        reach += stride * (extent - 1)
    else:
        return False
    if array.size == 0:
        return False
    offsets = sum(
        np.arange(n).reshape([-1] + [1] * i) * s
        for i, (s, n) in enumerate(zip(array.strides[::-1], array.shape[::-1], strict=True))
    )
    apart = np.diff(np.sort(np.asarray(offsets), axis=None))
    return bool(np.any(apart < array.itemsize))
