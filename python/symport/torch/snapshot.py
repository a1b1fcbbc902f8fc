# SPDX-License-Identifier: MIT
"""What a teleport may change, kept so that a refusal gives back every bit."""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor


class Snapshot:
    """The values of some tensors and the gradients of some parameters."""

    def __init__(self, tensors: Iterable[Tensor], parameters: Iterable[Tensor]) -> None:
        self._tensors = [(t, t.detach().clone()) for t in tensors]
        self._gradients = [
            (p, p.grad, None if p.grad is None else p.grad.detach().clone()) for p in parameters
        ]

    @torch.no_grad()
    def restore(self) -> None:
        for tensor, value in self._tensors:
            tensor.copy_(value)
        for parameter, gradient, value in self._gradients:
            parameter.grad = gradient
            if gradient is not None:
                gradient.copy_(value)

    def value(self, tensor: Tensor) -> Tensor | None:
        return next((value for t, value in self._tensors if t is tensor), None)


class RandomState:
    """The generators a closure may draw from: torch (CPU and CUDA), NumPy, Python."""

    def __init__(self) -> None:
        self._torch = torch.get_rng_state()
        cuda = torch.cuda.is_available() and torch.cuda.is_initialized()
        self._cuda = torch.cuda.get_rng_state_all() if cuda else None
        self._numpy = np.random.get_state()
        self._python = random.getstate()

    def restore(self) -> None:
        torch.set_rng_state(self._torch)
        if self._cuda is not None:
            torch.cuda.set_rng_state_all(self._cuda)
        np.random.set_state(self._numpy)
        random.setstate(self._python)
