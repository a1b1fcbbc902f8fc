# SPDX-License-Identifier: MIT
"""Records one eager forward pass as a list of ATen operations.

Below autograd every convenience function is already split into a few dozen elementary operations,
so the rules of the search (rules.py) need to know only those. What Python does with a value that
leaves the graph (`.item()`, `bool()`, `.numpy()`, a branch on data) is not among them: the recorder
notes where that happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

Key = tuple[int, int, tuple[int, ...], tuple[int, ...], torch.dtype]


def key_of(tensor: Tensor) -> Key:
    """Tensors with the same memory and geometry are the same value, in whatever object."""
    return (
        tensor.untyped_storage()._cdata,
        tensor.storage_offset(),
        tuple(tensor.shape),
        tuple(tensor.stride()),
        tensor.dtype,
    )


@dataclass
class Operation:
    """One call; `where` names the innermost module that was running."""

    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: tuple[Any, ...]
    where: str

    @property
    def name(self) -> str:
        return self.func.overloadpacket.__name__

    @property
    def departs(self) -> bool:
        """A Python value, or a shape, depends on values. Of indices only masks do that."""
        if self.name in ("index", "_unsafe_index"):
            return any(i is not None and i.dtype in _MASKS for i in self.args[1])
        return not _DEPARTURES.isdisjoint(self.func.tags)

    @property
    def mutates(self) -> bool:
        return bool(self.func._schema.is_mutable)


# Operations that only move entries, as sizes ask for, and products of matrices by another name.
_MOVING = ("clone", "contiguous", "copy_", "_to_copy", "_unsafe_view", "lift_fresh")
_PRODUCTS = ("mm", "bmm", "mv", "dot")


def computations(operations: Iterable[Operation]) -> dict[str, tuple[str, ...]]:
    """The operations of every module by name, without views and copies."""
    found: dict[str, list[str]] = {}
    for op in operations:
        views = any(a.alias_info is not None and not a.alias_info.is_write for a in _arguments(op))
        if not views and op.name not in _MOVING:
            name = "mm" if op.name in _PRODUCTS else op.name
            found.setdefault(op.where, []).append(name)
    return {where: tuple(names) for where, names in found.items()}


def _arguments(op: Operation) -> Any:
    return op.func._schema.arguments


# Operations whose result is a Python value, or has a shape that depends on values.
_DEPARTURES = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
_MASKS = (torch.bool, torch.uint8)
# Methods that hand a tensor's memory to others, which no dispatcher sees.
_EXPORTS = ("numpy", "tolist", "__array__", "__dlpack__")
# Operations that use the shape of their operand and none of its values, or literals only.
_CONSTANTS = ("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full")
_CONSTANTS += ("lift_fresh", "lift_fresh_copy")


class Recorder(TorchDispatchMode):
    """Keeps every tensor of the pass alive: memory is not used twice, so keys stay unique.

    departures: the modules in which a value that depends on inputs, parameters or buffers became
        a Python value.
    """

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        self.modules: list[str] = []
        self.departures: list[str] = []
        self._constants: set[Key] = set()  # made from literals and shapes alone

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        outputs = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        where = self.modules[-1] if self.modules else ""
        operation = Operation(func, args, kwargs or {}, outputs, where)
        self.operations.append(operation)
        tensors = [t for t in _pytree.tree_leaves((args, kwargs)) if isinstance(t, Tensor)]
        if operation.departs:
            for tensor in tensors:
                self.departs(tensor)
        elif operation.name in _CONSTANTS or all(key_of(t) in self._constants for t in tensors):
            self._constants.update(key_of(t) for t in outputs if isinstance(t, Tensor))
        else:
            self._constants.difference_update(key_of(t) for t in outputs if isinstance(t, Tensor))
        return result

    def departs(self, tensor: Tensor) -> None:
        where = self.modules[-1] if self.modules else ""
        if key_of(tensor) not in self._constants and where not in self.departures:
            self.departures.append(where)

    @contextmanager
    def noting_exports(self) -> Iterator[None]:
        """Knows when a tensor's memory is handed to NumPy, lists or other libraries."""
        before = {name: torch.Tensor.__dict__.get(name) for name in _EXPORTS}

        def noting(method: Callable[..., Any]) -> Callable[..., Any]:
            def export(tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
                self.departs(tensor)
                return method(tensor, *args, **kwargs)

            return export

        try:
            for name in _EXPORTS:
                setattr(torch.Tensor, name, noting(getattr(torch.Tensor, name)))
            yield
        finally:
            for name, method in before.items():
                if method is None:
                    delattr(torch.Tensor, name)
                else:
                    setattr(torch.Tensor, name, method)

    @contextmanager
    def watching(self, model: nn.Module) -> Iterator[None]:
        """Knows which module is running."""
        handles = []
        for name, module in model.named_modules():

            def enter(_module: nn.Module, _inputs: Any, name: str = name) -> None:
                self.modules.append(name)

            def leave(_module: nn.Module, _inputs: Any, _outputs: Any) -> None:
                self.modules.pop()

            handles.append(module.register_forward_pre_hook(enter))
            handles.append(module.register_forward_hook(leave))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


@contextmanager
def plain_kernels() -> Iterator[None]:
    """No fused attention and no fast paths: the same elementary operations in every mode."""
    fast_path = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel([SDPBackend.MATH]):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast_path)


def record(model: nn.Module, run: Callable[[], Any]) -> tuple[list[Operation], Any, list[str]]:
    """The operations of run(), which calls the model, its result, and the modules in which values
    left the graph."""
    recorder = Recorder()
    with plain_kernels(), recorder.watching(model), recorder.noting_exports(), recorder:
        result = run()
    return recorder.operations, result, recorder.departures
