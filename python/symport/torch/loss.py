# SPDX-License-Identifier: MIT
"""The loss of a closure, evaluated without leaving a trace."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from .agreement import Agreement
from .snapshot import RandomState, Snapshot
from .transport import Refused


class Loss:
    """Values and gradients of `closure` at the parameters as they are.

    Every evaluation draws the same random numbers (dropout, augmentation) and leaves buffers,
    gradients and generators as they were. The closure may or may not call `backward` itself. Over
    several processes the value is the mean.
    """

    def __init__(self, closure: Callable[[], Any], model: nn.Module, agreement: Agreement) -> None:
        self.evaluations = 0
        self._closure = closure
        self._parameters = [p for p in model.parameters() if p.requires_grad]
        self._buffers = list(model.buffers())
        self._agreement = agreement
        self._random = RandomState()
        self._calls_backward: bool | None = None

    def value(self) -> float:
        if self._calls_backward is False:
            snapshot = Snapshot(self._buffers, ())
            try:
                with torch.no_grad():
                    return self._call()[0]
            finally:
                snapshot.restore()
        return self._gradient(needed=False)[0]

    def check_repeatable(self, first: float, tolerance: float) -> None:
        """Raises ValueError if the closure does not give `first`, its last value, again.

        The same data and parameters give the same bits, or on a GPU a few units more or less in
        each sum: the loss of other data cannot be told from that of moved parameters. Passes with
        and without a graph may take different kernels, which is allowed up to `tolerance`.
        """
        second = self.value()
        if second == first:
            return
        third = self.value()
        spread = abs(third - second)
        if spread <= self._repeated_rounding() * abs(second) and abs(
            second - first
        ) <= tolerance * abs(first):
            return
        if spread == 0:
            third = first
        raise ValueError(
            f"the closure is not deterministic ({third:.9g} and {second:.9g} at the same"
            " parameters): it must use the same data at every call. Draw the batch before, not"
            " inside of it; random numbers of torch, NumPy and Python (dropout) are repeated, those"
            " of other generators are not"
        )

    def _repeated_rounding(self) -> float:
        """Relative difference of two evaluations by the order of sums alone: 4 eps sqrt(n), n the
        longest sum of a layer, or 1 on the CPU, whose kernels keep the order."""
        longest = 1
        for p in self._parameters:
            if p.device.type != "cpu" and p.ndim > 1:
                longest = max(longest, p.numel() // max(1, p.shape[0]))
        eps = max((torch.finfo(p.dtype).eps for p in self._parameters), default=0.0)
        return 4 * eps * longest**0.5

    def gradient(self) -> tuple[float, dict[Tensor, Tensor]]:
        """The value, and the gradient by parameter."""
        return self._gradient(needed=True)

    def _gradient(self, *, needed: bool) -> tuple[float, dict[Tensor, Tensor]]:
        snapshot = Snapshot(self._buffers, self._parameters)
        try:
            for p in self._parameters:
                p.grad = None
            with torch.enable_grad():
                value, result = self._call()
                self._calls_backward = any(p.grad is not None for p in self._parameters)
                if needed and not self._calls_backward:
                    if not isinstance(result, Tensor) or not result.requires_grad:
                        raise ValueError(
                            "closure: the loss that it returns has no gradient; call it outside of"
                            " torch.no_grad() and torch.inference_mode(), and without detach()"
                        )
                    result.backward()
            if needed:
                self.evaluations += 1
            found = {p: p.grad.detach().clone() for p in self._parameters if p.grad is not None}
            return value, found
        finally:
            snapshot.restore()

    def _call(self) -> tuple[float, Any]:
        self._random.restore()
        self.evaluations += 1
        try:
            result = self._closure()
        finally:
            self._random.restore()
        if isinstance(result, Tensor) and result.numel() != 1:
            raise ValueError(
                f"closure: returned a tensor of shape {tuple(result.shape)}; expected the loss, "
                "one number"
            )
        if not isinstance(result, (Tensor, float, int)):
            raise ValueError(f"closure: returned {type(result).__name__}; expected the loss")
        number = float(result.detach()) if isinstance(result, Tensor) else float(result)
        value = self._agreement.mean(number)
        if not math.isfinite(value):
            raise Refused(f"the loss is {value}")
        return value, result
