# SPDX-License-Identifier: MIT
"""Hooks that show the inputs of layers to their sources."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import _get_current_dispatch_mode

from . import exchange, gauge
from .find import Found
from .matrices import Matrices
from .rows import Choice, rows_of
from .source import Inputs
from .watch import Products


class Recorder:
    """Every layer's source, found in the first forward pass: layers that are given the same tensor
    share one, and the first of them to run in a pass shows it its rows.

    What is kept is the second moment of each source and nothing of a single pass, however many
    there are before a step.
    """

    def __init__(self, found: Found, power: tuple[float, float], rows: int | None):
        self.found, self.power = found, power
        self.choose = Choice(rows)
        self.sources: list[Inputs] = []
        self.seen: set[str] = set()
        self.raw: set[str] = set()  # layers that are given data, where those have no gauge
        self.group: Any = None  # of the DistributedDataParallel around the model
        self.replaced = False
        self._handles: list[Any] = []
        self._modes: dict[nn.Module, Products] = {}
        self._left: list[Products] = []  # of passes that an interrupt ended
        self._casts: list[Any] = []
        for module in [m.module for m in found.layers] + list(found.watched.values()):
            for hook in list(module._forward_hooks.values()):
                if isinstance(hook, Hook) and hook.recorder is not None:
                    hook.recorder.replaced = True
                    hook.recorder.remove()
        for m in found.layers:
            hook = Hook(self, partial(self.record, m))
            self._handles.append(m.module.register_forward_hook(hook, with_kwargs=True))
        for path, module in found.watched.items():
            before, after = Hook(self, partial(self.watch, path)), Hook(self, self.unwatch)
            self._handles.append(module.register_forward_pre_hook(before))
            self._handles.append(module.register_forward_hook(after, always_call=True))

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def next_step(self) -> None:
        for source in self.sources:
            source.fresh, source.shown = True, None
        self.choose.step += 1
        while (mode := _get_current_dispatch_mode()) in self._left:
            self._left.remove(mode)
            mode.__exit__(None, None, None)

    def record(self, m: Matrices, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        x = args[0] if args else kwargs.get("input", kwargs.get("x"))
        if not isinstance(x, Tensor) or x.is_nested or x.numel() == 0 or not _counts():
            return
        if not (isinstance(output, Tensor) and output.requires_grad):
            return
        if m.name not in self.seen and m.parameter.requires_grad:
            self._find_source(m, module, x)
        if isinstance(m.source, Inputs) and not m.source.was_shown(x):
            m.source.shown = weakref.ref(x), x._version
            with torch.no_grad(), gauge.full_precision(x.device.type):
                m.source.add(rows_of(module, x, m.n, self.choose))

    def _find_source(self, m: Matrices, module: nn.Module, x: Tensor) -> None:
        self.seen.add(m.name)
        self.group = getattr(DistributedDataParallel, "_active_ddp_module", None)
        power = self.power[0 if x.requires_grad else 1]
        if power == 0:
            self.raw.add(m.name)
            return
        plain = m.n == 1 and x.shape[-1] == m.inputs and not hasattr(module, "kernel_size")
        known = (s for s in self.sources if plain and s.plain and s.was_shown(x))
        m.source = next(known, None) or self.new_source(m, power, plain)

    def new_source(self, m: Matrices, power: float, plain: bool = False) -> Inputs:
        source = Inputs(m.n, *gauge.blocks(m.outputs, m.inputs), power, plain)
        self.sources.append(source)
        return source

    def agree(self, group: Any) -> None:
        """The same sources on all ranks, also where some did not call a layer so far."""
        layers = self.found.layers
        mine = [self.sources.index(m.source) if m.source in self.sources else -1 for m in layers]
        state = [-2 if m.name in self.raw else i for m, i in zip(layers, mine, strict=True)]
        theirs = exchange.agree(state, layers[0].parameter.device, group) if layers else []
        if theirs == state:
            return
        for m, index in zip(layers, theirs, strict=True):
            if index >= 0 and m.name not in self.seen:
                self.seen.add(m.name)
                if index == len(self.sources):
                    self.new_source(m, self.power[0])
                m.source = self.sources[index]

    def state_dict(self) -> dict[str, Any]:
        index = {id(source): i for i, source in enumerate(self.sources)}
        layers = {
            m.name: (index.get(id(m.source), -1), m.inputs_first, m.n)
            for m in self.found.layers
            if m.name in self.seen
        }
        return {"layers": layers, "sources": [source.state_dict() for source in self.sources]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.choose.step = state["steps"]
        self.sources = [Inputs.from_state_dict(s) for s in state["sources"]]
        self.seen, self.raw = set(state["layers"]), set()
        for name, (index, inputs_first, n) in state["layers"].items():
            m = next((m for m in self.found.layers if m.name == name), None)
            if m is None:
                path = next(p for p in self.found.watched if name.startswith(f"{p}." if p else ""))
                key = name[len(path) + 1 :] if path else name
                m = self.adopt(name, self.found.watched[path], key, n, inputs_first)
                self.sources.pop()
            if index < 0:
                self.raw.add(name)
                m.source = None
                continue
            m.source = self.sources[index]
            m.source.to(m.parameter.device)

    # Products without a layer of their own.

    def watch(self, path: str, module: nn.Module, *_: Any) -> None:
        if not _counts():
            return
        watched = []
        for key, parameter in module.named_parameters():
            name = f"{path}.{key}" if path else key
            if parameter.dim() < 2 or not parameter.requires_grad or name in self.found.skipped:
                continue
            n = 3 if key == "in_proj_weight" else 1  # of q, k and v
            a, b = parameter.shape[-2] // n, parameter.shape[-1]
            n = len(parameter) if parameter.dim() == 3 else n
            watched.append((parameter, (n, a, b), self._use(name, module, key, n)))
        left = self._modes.pop(module, None)
        if left is not None:
            left.watched, left.casts = [], []
            self._left.append(left)
        self._modes[module] = mode = Products(watched, self._casts)
        mode.__enter__()

    def unwatch(self, module: nn.Module, *_: Any) -> None:
        mode = self._modes.pop(module, None)
        if mode is not None:
            mode.__exit__(None, None, None)

    def _use(self, name: str, module: nn.Module, key: str, n: int) -> Any:
        def use(which: slice, inputs_first: bool, H: Tensor) -> None:
            m = next((m for m in self.found.layers if m.name == name), None)
            if m is None:
                m = self.adopt(name, module, key, n, inputs_first)
            if m.inputs_first != inputs_first or not isinstance(m.source, Inputs):
                return  # multiplied both ways: a tied weight
            chosen = self.choose(H.shape[1])
            H = H if chosen is None else H[:, chosen]
            with torch.no_grad(), gauge.full_precision(H.device.type):
                wide = torch.float64 if H.dtype == torch.float64 else torch.float32
                m.source.add(H.detach().to(wide), which)

        return use

    def adopt(self, name: str, module: nn.Module, key: str, n: int, inputs_first: bool) -> Matrices:
        owner, _, own = key.rpartition(".")
        parameter = module.get_parameter(key)
        a, b = parameter.shape[-2:]
        a = a if parameter.dim() == 3 else a // n
        outputs, inputs = (b, a) if inputs_first else (a, b)
        m = Matrices(name, module.get_submodule(owner), own, n, outputs, inputs, inputs_first)
        m.source = self.new_source(m, self.power[0])
        self.found.layers.append(m)
        self.seen.add(name)
        return m


class Hook:
    """A forward hook that copies of the model have no use for."""

    def __init__(self, recorder: Recorder | None = None, use: Callable[..., None] | None = None):
        self.recorder, self.use = recorder, use

    @torch.compiler.disable
    def __call__(self, module: nn.Module, *arguments: Any) -> None:
        if self.use is not None:
            self.use(module, *arguments)

    def __deepcopy__(self, _: Any) -> Hook:
        return Hook()

    def __reduce__(self) -> Any:
        return (Hook, ())


def _counts() -> bool:
    """Passes without gradients do not count; torch.func's have gradients of their own."""
    return torch.is_grad_enabled() and torch._C._functorch.peek_interpreter_stack() is None
