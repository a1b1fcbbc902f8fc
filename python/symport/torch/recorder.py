# SPDX-License-Identifier: MIT
"""Records one eager forward pass as a list of ATen operations.

Below autograd every convenience function is already split into a few dozen elementary operations,
so the rules of the search (rules.py) need to know only those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
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
    def mutates(self) -> bool:
        return bool(self.func._schema.is_mutable)


class Recorder(TorchDispatchMode):
    """Keeps every tensor of the pass alive: memory is not used twice, so keys stay unique."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        self.modules: list[str] = []

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
        self.operations.append(Operation(func, args, kwargs or {}, outputs, where))
        return result

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


def record(model: nn.Module, run: Callable[[], Any]) -> tuple[list[Operation], Any]:
    """The operations of run(), which calls the model, and its result."""
    recorder = Recorder()
    with plain_kernels(), recorder.watching(model), recorder:
        result = run()
    return recorder.operations, result
