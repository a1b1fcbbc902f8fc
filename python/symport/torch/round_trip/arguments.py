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


def check_number(name: str, value: float, zero: bool = False) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name}: found {value!r}, expected a number")
    if not ((value > 0 or (zero and value == 0)) and math.isfinite(value)):
        raise ValueError(f"{name}: found {value!r}, expected a positive number, such as 0.1")


def check_count(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: found {value!r}, expected a whole number")
    if value < 1:
        raise ValueError(f"{name}: found {value}, expected at least 1")
