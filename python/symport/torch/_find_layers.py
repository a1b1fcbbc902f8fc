# SPDX-License-Identifier: MIT
"""Which layers and factor pairs of a model a round trip steps, and why it leaves the others
alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ._layers import TRANSPOSED, Layer, is_linear_map, is_sharded, is_transposed_linear


@dataclass
class Pair:
    """Two factors of a product B A: A is (r, inputs), B is (outputs, r), both with their later
    axes flattened."""

    name: str
    A: nn.Parameter
    B: nn.Parameter


@dataclass
class Found:
    layers: list[Layer]
    pairs: list[Pair]
    left_alone: dict[str, str]  # name of a module or parameter -> reason


def find_layers(model: nn.Module, pairs: Iterable[tuple[str, str]]) -> Found:
    owners: dict[int, list[tuple[str, nn.Module]]] = {}
    for name, module in model.named_modules():
        for parameter in module._parameters.values():
            if parameter is not None:
                owners.setdefault(id(parameter), []).append((name, module))

    found = Found([], list(_lora_pairs(model)) + list(_named_pairs(model, pairs)), {})
    claimed: dict[int, str] = {}
    for pair in found.pairs:
        for parameter in (pair.A, pair.B):
            if id(parameter) in claimed:
                raise ValueError(
                    f"pairs: {pair.name} shares a factor with {claimed[id(parameter)]}"
                )
            claimed[id(parameter)] = pair.name
            _check_dtype(pair.name, parameter)

    pair_names = set(claimed.values())
    silent = set()  # linear layers whose forward is never called
    for name, module in model.named_modules():
        if isinstance(module, nn.MultiheadAttention):
            silent.add(id(module.out_proj))
        own = {n: p for n, p in module._parameters.items() if p is not None}
        if not is_linear_map(module):
            reason = "quantised" if _is_quantised(module) else "not a linear layer"
            if any(id(p) not in claimed for p in own.values()) or reason == "quantised":
                found.left_alone[name or type(module).__name__] = (
                    f"{type(module).__name__}: {reason}"
                )
            continue
        if id(own.get("weight")) in claimed:
            if own.get("bias") is not None and claimed[id(own["weight"])] in pair_names:
                found.left_alone[f"{name}.bias"] = "the bias of a factor"
            continue
        reason = _reason_to_leave(name, module, owners, silent)
        if reason:
            found.left_alone[name] = f"{type(module).__name__}: {reason}"
            continue
        claimed[id(module.weight)] = name
        tied = [m for _, m in owners[id(module.weight)]]
        layer = Layer(name, tied)
        _check_dtype(name, module.weight)
        if layer.bias is None and module.bias is not None:
            reason = (
                "added once an output, not once a row of the input"
                if len(tied) == 1
                else "the modules that share the weight have biases of their own"
            )
            found.left_alone[f"{name}.bias"] = reason
        found.layers.append(layer)
    return found


def _reason_to_leave(
    name: str, module: nn.Module, owners: dict[int, list[tuple[str, nn.Module]]], silent: set[int]
) -> str:
    weight = module._parameters.get("weight")
    if weight is None:
        return "its weight is parametrized, not a parameter"
    if isinstance(weight, nn.parameter.UninitializedParameter):
        raise ValueError(
            f"{name}: a lazy layer without a shape yet; "
            "run one forward pass before RoundTrip(model)"
        )
    if _is_quantised(module) or not weight.dtype.is_floating_point:
        return f"quantised or not real ({str(weight.dtype).removeprefix('torch.')})"
    if id(module) in silent:
        return "nn.MultiheadAttention uses its weight without calling it"
    others = [
        f"{n} ({type(m).__name__})" for n, m in owners[id(weight)] if type(m) is not type(module)
    ]
    if others:
        return f"its weight is shared with {', '.join(others)}"
    if len(owners[id(weight)]) > 1 and getattr(module, "groups", 1) > 1:
        return "a grouped convolution that shares its weight"
    if is_sharded(weight):
        if any(p.dim != 0 for p in weight.placements if p.is_shard()):
            return "sharded along its inputs"
        inputs_first = isinstance(module, TRANSPOSED) or is_transposed_linear(module)
        if getattr(module, "groups", 1) > 1 or inputs_first:
            return "sharded along an axis that its groups or inputs need"
    return ""


def _is_quantised(module: nn.Module) -> bool:
    return ".quantized" in type(module).__module__ or type(module).__module__.startswith(
        "bitsandbytes"
    )


def _check_dtype(name: str, weight: Tensor) -> None:
    if weight.requires_grad and weight.dtype == torch.float16:
        raise TypeError(
            f"{name}: float16 parameters have too little range for a solve; "
            "keep them in float32 and use torch.autocast, or convert the model to bfloat16"
        )
    if weight.is_inference():
        raise ValueError(
            f"{name}: its parameters were made under torch.inference_mode() and cannot be trained; "
            "build or load the model outside of it"
        )


def _lora_pairs(model: nn.Module) -> Iterator[Pair]:
    """Children or parameters named lora_A and lora_B, as in peft and loralib, also in dictionaries
    of adapters."""
    for name, module in model.named_modules():
        A, B = getattr(module, "lora_A", None), getattr(module, "lora_B", None)
        if A is None or B is None:
            continue
        if isinstance(A, nn.ModuleDict) and isinstance(B, nn.ModuleDict):
            adapters = [(f"{name}.{key}", A[key], B[key]) for key in A if key in B]
        else:
            adapters = [(name, A, B)]
        for where, a, b in adapters:
            a = a if isinstance(a, nn.Parameter) else getattr(a, "weight", None)
            b = b if isinstance(b, nn.Parameter) else getattr(b, "weight", None)
            if isinstance(a, nn.Parameter) and isinstance(b, nn.Parameter) and _is_product(a, b):
                yield Pair(f"{where} lora_A, lora_B".strip(), a, b)


def _is_product(a: Tensor, b: Tensor) -> bool:
    return a.dim() >= 2 and b.dim() >= 2 and b.shape[1:].numel() == a.shape[0]


def _named_pairs(model: nn.Module, pairs: Iterable[tuple[str, str]]) -> Iterator[Pair]:
    parameters = dict(model.named_parameters(remove_duplicate=False))
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(
                f"pairs: found {pair!r}, expected the two names (A, B) of a product B A"
            )
        for name in pair:
            if name not in parameters:
                raise ValueError(f"pairs: the model has no parameter {name!r}")
        a, b = parameters[pair[0]], parameters[pair[1]]
        if not _is_product(a, b):
            raise ValueError(
                f"pairs: {pair[0]} {tuple(a.shape)} and {pair[1]} {tuple(b.shape)} "
                "are no factors of a product B A: "
                "expected A (r, inputs) and B (outputs, r)"
            )
        yield Pair(f"{pair[0]}, {pair[1]}", a, b)
