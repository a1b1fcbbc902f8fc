# SPDX-License-Identifier: MIT
"""The hooks that collect the rows of a layer's input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from ._fused import can_fuse, fused
from ._layers import Layer, Use

if TYPE_CHECKING:
    from ._rewriting import RoundTrip


class RowRecorder:
    """The forward hook of a layer: takes rows of its input, and keeps them once they took part in
    the gradient."""

    def __init__(self, trip: RoundTrip | None, layer: Layer | None):
        self.trip, self.layer = trip, layer
        self.waiting: list[tuple[int, bool, Use]] = []
        self.waits = False

    def wait_for_weight(self) -> None:
        """Rows count when the weight's gradient was accumulated, which torch.autograd.grad() does
        not do."""
        self.waits = True

    @torch.compiler.disable
    def __call__(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any
    ) -> Tensor | None:
        """The output in a graph of its own where backward() is fused with the round trip."""
        trip, layer = self.trip, self.layer
        if trip is None or layer is None or not torch.is_grad_enabled():
            return None
        if not (isinstance(output, Tensor) and output.requires_grad and layer.weight.requires_grad):
            return None
        if torch._C._functorch.peek_interpreter_stack() is not None:
            return None  # torch.func transforms have gradients of their own
        x = args[0] if args else kwargs.get("input", kwargs.get("x"))
        if not isinstance(x, Tensor) or x.numel() == 0:
            return None
        if trip._fuses(layer, x.shape[:-1].numel()) and can_fuse(layer, module, x, output):
            return fused(layer, x, output, trip.damping)
        with torch.no_grad():
            H, total = layer.rows(module, x, trip._choose)
        with_delta = trip._wants_delta(layer, H.shape[1], total)

        def gradient_arrived(gradient: Tensor) -> None:
            delta = None
            if with_delta:
                delta = gradient.detach().reshape(total, -1).to(H.dtype)
            self._use(Use(H, total, delta))

        output.register_hook(gradient_arrived)
        return None

    def _use(self, use: Use) -> None:
        assert self.layer is not None
        if not self.waits:
            self.layer.uses.append(use)
            return
        fresh = self.layer.weight.grad is None
        self.waiting.append((torch._C._current_graph_task_id(), fresh, use))

    def accumulated(self, _: Tensor) -> None:
        assert self.layer is not None
        self.layer.version = self.layer.weight._version
        task = torch._C._current_graph_task_id()
        mine = [(fresh, use) for t, fresh, use in self.waiting if t == task]
        self.waiting = [w for w in self.waiting if w[0] != task]
        if any(fresh for fresh, _ in mine):
            self.layer.uses.clear()  # zero_grad() dropped the gradient that these belonged to
        self.layer.uses.extend(use for _, use in mine)

    def __deepcopy__(self, _: Any) -> RowRecorder:
        return RowRecorder(
            None, None
        )  # copies of the model (averages, checkpoints) are not recorded

    def __reduce__(self) -> Any:
        return (RowRecorder, (None, None))
