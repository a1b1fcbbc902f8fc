# SPDX-License-Identifier: MIT
"""What find_symmetries is given: what it refuses, which parameters may not move, how the model is
called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedTensorMixin


def check_model(model: nn.Module) -> None:
    for name, module in model.named_modules():
        if "quantized" in type(module).__module__.split("."):
            raise ValueError(
                f"{name or 'the model'} is a quantised layer ({type(module).__name__}): its weights"
                " cannot be scaled in place. Search the model before it is quantised"
            )
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if isinstance(tensor, UninitializedTensorMixin):
            raise ValueError(
                f"{name} belongs to a lazy layer and has no shape yet; run one forward pass first"
            )
        if tensor.is_quantized:
            raise ValueError(f"{name} is quantised; search the model before it is quantised")
        if tensor.is_inference():
            raise ValueError(
                f"{name} was made in torch.inference_mode and has no gradients; build or load the"
                " model outside of inference mode"
            )
        if tensor.is_meta:
            raise ValueError(
                f"{name} is on the meta device and has no values; load the weights first"
            )
        if hasattr(tensor, "placements"):
            raise ValueError(
                f"{name} is sharded (DTensor); search and teleport the model before fully_shard:"
                " sharded tensors are stepped by RoundTrip, but not moved"
            )
    if not any(p.requires_grad for p in model.parameters()):
        raise ValueError(
            "no parameter of the model requires a gradient, so there is nothing that may move;"
            " call model.requires_grad_(True) first"
        )


def frozen_parameters(model: nn.Module) -> dict[str, str]:
    """Parameters that may not move -> why."""
    reasons = {}
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            reasons[name] = "frozen (requires_grad is False)"
        elif not parameter.is_floating_point():
            reasons[name] = f"of type {parameter.dtype}"
    return reasons


def calling(
    example_inputs: Any, loss_fn: Callable[..., Tensor] | None
) -> tuple[Callable[[nn.Module, Any], Any], Any]:
    """How the model is called, and with what."""
    target: tuple[Any, ...] = ()
    inputs = example_inputs
    if loss_fn is not None and _required_arguments(loss_fn) >= 2:
        if not isinstance(inputs, (tuple, list)) or len(inputs) < 2:
            raise ValueError(
                "loss_fn takes an output and a target: give example_inputs as (input, target)"
            )
        inputs, target = tuple(inputs[:-1]), (inputs[-1],)

    def call(model: nn.Module, data: Any) -> Any:
        arguments, rest = data
        if isinstance(arguments, Mapping):
            output = model(**arguments)
        elif isinstance(arguments, (tuple, list)):
            output = model(*arguments)
        else:
            output = model(arguments)
        return output if loss_fn is None else loss_fn(output, *rest)

    if isinstance(inputs, Mapping):
        inputs = dict(inputs)
    return call, (inputs, target)


def _required_arguments(function: Callable[..., Any]) -> int:
    called = function.forward if isinstance(function, nn.Module) else function
    try:
        parameters = inspect.signature(called).parameters.values()
    except (TypeError, ValueError):
        return 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is p.empty for p in parameters)


def check_outputs(outputs: list[Tensor]) -> None:
    if not outputs:
        raise ValueError("the model's output holds no floating-point tensors")
    if not all(bool(torch.isfinite(t).all()) for t in outputs):
        raise ValueError("the model's output holds infinity or NaN on the example inputs")
    if not any(t.requires_grad for t in outputs):
        raise ValueError(
            "the model's output does not depend on its parameters by autograd (a detach or no_grad"
            " inside?), so nothing can be proved"
        )
