# SPDX-License-Identifier: MIT
"""Which parameters of a model are stepped in a gauge, and why others are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import Tensor, nn

from .matrices import Matrices
from .rows import CONVOLUTIONS, TRANSPOSED

LINEAR_MAPS = (nn.Linear, *CONVOLUTIONS, *TRANSPOSED)


@dataclass
class Found:
    """`layers` have rows of their own, `pairs` are the factors of products, `watched` are modules
    whose products are seen only while they run."""

    layers: list[Matrices] = field(default_factory=list)
    pairs: list[tuple[Matrices, Matrices]] = field(default_factory=list)
    watched: dict[str, nn.Module] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)  # name of a parameter -> reason


def unwrap(model: nn.Module) -> nn.Module:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model: found {type(model).__name__}, expected a torch.nn.Module")
    while True:
        kind = type(model).__name__
        if kind == "FullyShardedDataParallel":
            raise TypeError("FullyShardedDataParallel has flat parameters; use fully_shard (FSDP2)")
        if isinstance(model, nn.DataParallel):
            raise TypeError("nn.DataParallel runs copies of the model; use DistributedDataParallel")
        if isinstance(model, torch.jit.ScriptModule):
            raise TypeError(
                "a scripted model has no Python hooks; use the module before torch.jit.script"
            )
        if hasattr(model, "_orig_mod"):
            model = model._orig_mod  # torch.compile
        elif isinstance(model, nn.parallel.DistributedDataParallel):
            model = model.module
        else:
            return model


def find(model: nn.Module, pairs: Iterable[tuple[str, str]], exclude: Iterable[str]) -> Found:
    owners: dict[int, list[str]] = {}
    places: dict[str, tuple[nn.Module, str]] = {}
    for path, module in model.named_modules():
        for key, parameter in module._parameters.items():
            if parameter is not None:
                name = f"{path}.{key}" if path else key
                owners.setdefault(id(parameter), []).append(name)
                places[name] = (module, key)
    found = Found()
    factors = set()
    for A, B in [*_lora_pairs(model), *_named_pairs(places, pairs)]:
        for name in (A, B):
            parameter = places[name][0]._parameters[places[name][1]]
            if id(parameter) in factors:
                raise ValueError(f"pairs: {name} is a factor of two products")
            factors.add(id(parameter))
        found.pairs.append((_factor(A, places, True), _factor(B, places, False)))
    patterns = _listed(exclude)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(
                f"exclude: found {type(pattern).__name__}, expected names or patterns, such as"
                " ['head', '*.down']"
            )
    attention = {id(m.out_proj) for m in model.modules() if isinstance(m, nn.MultiheadAttention)}
    for name, (module, key) in places.items():
        parameter = module._parameters[key]
        assert parameter is not None
        if id(parameter) in factors or parameter.dim() < 2 or owners[id(parameter)][0] != name:
            continue
        used = [p for p in patterns if fnmatchcase(name, p) or fnmatchcase(name, f"{p}.*")]
        reason = "excluded" if used else _reason(module, key, parameter, owners[id(parameter)])
        if reason:
            found.skipped[name] = reason
        elif isinstance(module, nn.MultiheadAttention) or id(module) in attention:
            path = name.rpartition(".")[0].removesuffix("out_proj").removesuffix(".")
            found.watched[path] = model.get_submodule(path)
        elif isinstance(module, LINEAR_MAPS) or is_conv1d(module):
            found.layers.append(_layer(name, module))
        elif parameter.dim() == 3 and len(parameter) > 1:  # experts
            found.watched[name.rpartition(".")[0]] = module
        else:
            found.skipped[name] = f"{type(module).__name__}: not the weight of a layer"
    for pattern in patterns:
        if not any(fnmatchcase(n, pattern) or fnmatchcase(n, f"{pattern}.*") for n in places):
            raise ValueError(f"exclude: the model has no parameter or module {pattern!r}")
    return found


def _listed(value: Any) -> list:
    return [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)


def is_conv1d(module: nn.Module) -> bool:
    """Hugging Face's Conv1D: a linear layer with weight (inputs, outputs)."""
    return type(module).__name__ == "Conv1D" and type(module).__module__.startswith("transformers.")


def _layer(name: str, module: nn.Module) -> Matrices:
    n = getattr(module, "groups", 1)
    shape = module.weight.shape
    if isinstance(module, TRANSPOSED) or is_conv1d(module):
        return Matrices(name, module, "weight", n, shape[1:].numel(), shape[0] // n, True)
    return Matrices(name, module, "weight", n, shape[0] // n, shape[1:].numel())


def _factor(name: str, places: dict, rank_first: bool) -> Matrices:
    module, key = places[name]
    shape = module._parameters[key].shape
    if rank_first:  # A (r, inputs): in the gauge of B' B, on the side of its outputs
        return Matrices(name, module, key, 1, shape[1:].numel(), shape[0], True)
    return Matrices(name, module, key, 1, shape[0], shape[1:].numel())


def _reason(module: nn.Module, key: str, parameter: nn.Parameter, names: list[str]) -> str:
    """Why a matrix of parameters is left alone; empty if it is not."""
    kind = type(module).__name__
    if isinstance(parameter, nn.parameter.UninitializedParameter):
        raise ValueError(
            f"{names[0]}: a lazy layer without a shape yet; run one forward pass before RoundTrip"
        )
    if parameter.is_inference():
        raise ValueError(
            f"{names[0]}: made under torch.inference_mode() and cannot be trained; build or load"
            " the model outside of it"
        )
    if isinstance(module, (nn.Embedding, nn.EmbeddingBag)):
        return "an embedding: its inputs are indices" + _shared(names)
    if len(names) > 1:
        return "tied" + _shared(names)
    if not parameter.dtype.is_floating_point:
        return f"not real: {str(parameter.dtype).removeprefix('torch.')}"
    if module.__class__.__module__.startswith(("bitsandbytes", "torch.ao")):
        return f"{kind}: quantised"
    if hasattr(parameter, "placements"):
        reason = _layout(parameter, module)
        if reason:
            return reason
    if isinstance(module, LINEAR_MAPS):
        base = next(k for k in LINEAR_MAPS if isinstance(module, k))
        if type(module).forward is not base.forward:
            return f"{kind} has a forward() other than {base.__name__}'s"
        if key != "weight":
            return f"{kind} does not multiply its inputs with it"
    if "parametriz" in type(module).__name__.lower() or hasattr(module, "parametrizations"):
        return "its weight is parametrized"
    if isinstance(module, nn.RNNBase):
        return f"{kind}: its steps in time are not seen from outside"
    if isinstance(module, nn.MultiheadAttention) and key.startswith("bias_"):
        return "a bias"
    return ""


def _shared(names: list[str]) -> str:
    return f", the weight of {', '.join(names[1:])} too" if len(names) > 1 else ""


def _layout(parameter: Tensor, module: nn.Module) -> str:
    """Whole copies and shards along the first axis are stepped (FSDP2's)."""
    mesh, placements = parameter.device_mesh, parameter.placements
    names = getattr(mesh, "mesh_dim_names", None) or ()
    if "tp" in names or not all(p.is_replicate() or p.is_shard(0) for p in placements):
        return f"tensor parallel, or a layout that is not known: {placements}"
    if getattr(module, "groups", 1) > 1 or parameter.dim() == 3:
        return f"sharded along its groups or experts: {placements}"
    return ""


def _lora_pairs(model: nn.Module) -> Iterator[tuple[str, str]]:
    """Children or parameters named lora_A and lora_B, as in peft and loralib, also in dictionaries
    of adapters."""
    names = {id(p): name for name, p in model.named_parameters()}
    for module in model.modules():
        A, B = getattr(module, "lora_A", None), getattr(module, "lora_B", None)
        if A is None or B is None:
            continue
        if isinstance(A, nn.ModuleDict) and isinstance(B, nn.ModuleDict):
            adapters = [(A[key], B[key]) for key in A if key in B]
        else:
            adapters = [(A, B)]
        for a, b in adapters:
            a = a if isinstance(a, nn.Parameter) else getattr(a, "weight", None)
            b = b if isinstance(b, nn.Parameter) else getattr(b, "weight", None)
            if isinstance(a, nn.Parameter) and isinstance(b, nn.Parameter) and _is_product(a, b):
                yield names[id(a)], names[id(b)]


def _is_product(a: Tensor, b: Tensor) -> bool:
    return a.dim() >= 2 and b.dim() >= 2 and b.shape[1:].numel() == a.shape[0]


def _named_pairs(places: dict, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for pair in _listed(pairs):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(
                f"pairs: found {pair!r}, expected the two names (A, B) of a product B A"
            )
        for name in pair:
            if name not in places:
                raise ValueError(f"pairs: the model has no parameter {name!r}")
        a, b = (places[name][0]._parameters[places[name][1]] for name in pair)
        if not _is_product(a, b):
            raise ValueError(
                f"pairs: {pair[0]} {tuple(a.shape)} and {pair[1]} {tuple(b.shape)} are not factors"
                " of a product B A: expected A (r, inputs) and B (outputs, r)"
            )
        yield tuple(pair)
