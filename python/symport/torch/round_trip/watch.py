# SPDX-License-Identifier: MIT
"""Products of weights that no layer of their own multiplies: those of experts, (E, a, b), and of
nn.MultiheadAttention. They are seen while the module that has them runs."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

#: The places of the rows and of the matrix among the arguments of a product.
PRODUCTS = {
    torch.ops.aten.mm.default: (0, 1),
    torch.ops.aten.addmm.default: (1, 2),
    torch.ops.aten.bmm.default: (0, 1),
    torch.ops.aten.baddbmm.default: (1, 2),
}

#: use(which of the parameter's matrices, whether its inputs come first, rows (n, m, d))
Use = Callable[[slice, bool, Tensor], None]


class Products(TorchDispatchMode):
    """Calls the `use` of every product with a parameter (n, a, b) or a part of it. `casts` are
    copies in another precision, such as autocast's, with the place where the parameter begins."""

    def __init__(self, watched: list[tuple[Tensor, tuple[int, int, int], Use]], casts: list):
        super().__init__()
        self.watched, self.casts = watched, casts

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        places = PRODUCTS.get(func)
        if places is not None:
            rows, matrix = args[places[0]], args[places[1]]
            known = [(lambda p=p: p, p.storage_offset(), s, use) for p, s, use in self.watched]
            for find, start, shape, use in known + self.casts:
                tensor = find()
                part = None if tensor is None else _part(tensor, start, shape, matrix)
                if part is not None:
                    use(*part, rows if rows.dim() == 3 else rows[None])
        result = func(*args, **(kwargs or {}))
        if func is torch.ops.aten._to_copy.default and result.stride() == args[0].stride():
            for p, shape, use in self.watched:
                if _memory(args[0]) == _memory(p):
                    ahead = args[0].storage_offset() - p.storage_offset()
                    self.casts[:] = [cast for cast in self.casts if cast[0]() is not None]
                    start = result.storage_offset() - ahead
                    self.casts.append((weakref.ref(result), start, shape, use))
        return result


def _memory(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _part(
    parameter: Tensor, start: int, shape: tuple[int, int, int], matrix: Tensor
) -> tuple[slice, bool] | None:
    """Which matrices of a parameter a factor is, and whether its first axis, that of the inputs, is
    the first of the parameter's matrices too. None if it is something else."""
    _, a, b = shape
    if _memory(matrix) != _memory(parameter):
        return None
    first, rest = divmod(matrix.storage_offset() - start, a * b)
    count = len(matrix) if matrix.dim() == 3 else 1
    if rest != 0 or (count > 1 and matrix.stride(0) != a * b):
        return None
    if matrix.stride()[-2:] == (b, 1) and matrix.shape[-2:] == (a, b):
        return slice(first, first + count), True
    if matrix.stride()[-2:] == (1, b) and matrix.shape[-2] == b and matrix.shape[-1] % a == 0:
        return slice(first, first + count * (matrix.shape[-1] // a)), False
    return None
