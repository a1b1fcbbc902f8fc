# SPDX-License-Identifier: MIT
"""A linear layer whose backward pass forms the white direction instead of the weight's gradient."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from . import _gauge
from ._gauge import Rows
from ._layers import Layer


def can_fuse(layer: Layer, module: nn.Module, x: Tensor, output: Tensor) -> bool:
    """Whether this call is a plain product in the precision of the statistics."""
    return (
        type(module) is nn.Linear
        and len(layer.modules) == 1
        and x.dtype == output.dtype == layer.weight.dtype == layer.statistics_dtype
    )


def fused(layer: Layer, x: Tensor, output: Tensor, damping: float) -> Tensor:
    """The output of a linear layer, in a graph with another backward pass; the graph that made it
    is dropped."""
    # In a list, as autograd would take a tensor that is returned for a view of an argument.
    return _WhiteLinear.apply(x, layer.weight, layer.modules[0].bias, [output.data], layer, damping)


def check_whole(layers: list[Layer]) -> None:
    """Throws if only some of the calls of a layer were fused."""
    for layer in layers:
        if layer.uses and layer.fused is not None and layer.weight.grad is not None:
            raise RuntimeError(
                f"{layer.name}: some of its calls were fused and some could not be; make"
                " RoundTrip(model) without fused=True"
            )


def take(layers: list[Layer]) -> dict[str, str]:
    """Layers whose gradient backward() has made white already -> "", or why it could not."""
    done = {}
    for layer in layers:
        if layer.fused is not None and layer.weight.grad is not None:
            done[layer.name] = "its inputs are not finite" if layer.unsolved else ""
        layer.fused = None
    return done


class _WhiteLinear(torch.autograd.Function):
    """z = x W' + b. Backward: delta W for x, and s delta' (K + s l I)^-1 [x 1] for [W b].

    That is the gradient times (A + l I)^-1 at the price of a Gram matrix, its inverse and a
    product with it: the product of the gradient's size is done once, here, and not once by autograd
    and once more by `RoundTrip.step()`.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        output: list[Tensor],
        layer: Layer,
        damping: float,
    ) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.layer, ctx.damping = layer, damping
        return output.pop()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        with torch.autocast(device_type=x.device.type, enabled=False):
            along = torch.matmul(gradient, weight) if ctx.needs_input_grad[0] else None
            H = x.reshape(-1, x.shape[-1])
            delta = gradient.reshape(len(H), -1)
            layer: Layer = ctx.layer
            if _accumulates(ctx.next_functions[1][0]):
                _note(layer)
                delta = _white(layer, H, delta, ctx.damping)
            bias = delta.sum(0) if ctx.needs_input_grad[2] else None
            return along, torch.mm(delta.T, H), bias, None, None, None


def _accumulates(node: Any) -> bool:
    """Whether this backward pass writes to .grad: torch.autograd.grad() and backward(inputs=...)
    need not, and get gradients."""
    try:
        return torch._C._will_engine_execute_node(node)
    except RuntimeError:  # how it says that this is torch.autograd.grad()
        return False


def _note(layer: Layer) -> None:
    task = torch._C._current_graph_task_id()
    if layer.fused is not None:
        if layer.fused == task:
            raise RuntimeError(
                f"{layer.name}: it is called several times in a forward pass, and fused=True takes"
                " one call for each step; make RoundTrip(model) without it"
            )
        if layer.weight.grad is not None:
            raise RuntimeError(
                f"{layer.name}: a second backward() before round_trip.step(), and fused=True takes"
                " one for each step; to accumulate gradients make RoundTrip(model) without it"
            )
    layer.fused, layer.unsolved = task, False


def _white(layer: Layer, H: Tensor, delta: Tensor, damping: float) -> Tensor:
    """s (K + s l I)^-1 delta, or delta where the inputs are not finite."""
    K = _gauge.gram(Rows(H[None]), layer.steps_bias)
    ((inverse, _),) = _gauge.damped_inverses([(K, damping / min(len(H), layer.dimension))])
    if inverse is None:
        layer.unsolved = True
        return delta
    return torch.mm(inverse[0].mul_(len(H)), delta)
