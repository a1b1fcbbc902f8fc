# SPDX-License-Identifier: MIT
"""What RoundTrip accepts: the model inside of wrappers, and numbers in their ranges."""

from __future__ import annotations

import math

import torch
from torch import nn


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


def check(name: str, value: float, low: float, high: float = math.inf, whole: bool = False) -> None:
    right = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not (right and low <= value <= high and math.isfinite(value)):
        limits = f"from {low} to {high}" if math.isfinite(high) else f"of at least {low}"
        kind = "whole number" if whole else "number"
        raise ValueError(f"{name}: found {value!r}, expected a {kind} {limits}")
