# SPDX-License-Identifier: MIT
"""Runs the rules over a recorded forward pass: parameters in, equations of their scales out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree

from .charges import Charges, Terms
from .recorder import Key, Operation, key_of
from .rules import Context, apply_rule


class Interpreter(Context):
    """modulus 0: scalings; 2: changes of sign.

    parameters: name -> tensor of the recorded model, one name for tied ones.
    forbidden: name -> reason, for parameters that must not move.
    buffers: name -> tensor; only running statistics of batch norms ever move.
    """

    def __init__(
        self,
        parameters: Mapping[str, Tensor],
        forbidden: Mapping[str, str],
        buffers: Mapping[str, Tensor],
        modulus: int = 0,
    ) -> None:
        super().__init__(Charges(modulus), self.lookup)
        self._values: dict[Key, Terms] = {}
        self._aliases: dict[int, set[Key]] = {}
        self._parameters: dict[int, str] = {}
        self._buffers = {key_of(tensor): name for name, tensor in buffers.items()}
        self._statistics: dict[Key, Terms] = {}
        for name, tensor in parameters.items():
            terms = self._leaf(name, tensor)
            self._set(tensor, terms)
            self._parameters[tensor.untyped_storage()._cdata] = name
            if name in forbidden:
                self.charges.where = name
                for term in terms:
                    self.charges.zero([term], forbidden[name])

    def _leaf(self, name: str, tensor: Tensor, shift: float = 0.0) -> Terms:
        """An unknown for each index of each axis."""
        axes = [d for d in range(tensor.ndim) if tensor.shape[d] > 1 or tensor.ndim == 1]
        terms = []
        for axis in axes:
            numbers = [
                self.charges.variable(name, axis, index, len(axes) > 1, shift)
                for index in range(tensor.shape[axis])
            ]
            shape = [1] * tensor.ndim
            shape[axis] = len(numbers)
            terms.append(torch.tensor(numbers).view(shape).expand(tensor.shape))
        return terms

    def leaf_statistics(self, tensor: Tensor, shift: float) -> Terms:
        key = key_of(tensor)
        if key not in self._buffers:
            return self.lookup(tensor)
        if key not in self._statistics:
            self._statistics[key] = self._leaf(self._buffers[key], tensor, shift)
        return self._statistics[key]

    def _set(self, tensor: Tensor, terms: Terms) -> None:
        key = key_of(tensor)
        self._values[key] = terms
        self._aliases.setdefault(key[0], set()).add(key)

    def lookup(self, value: Any) -> Terms:
        if not isinstance(value, Tensor):
            return []
        key = key_of(value)
        terms = self._values.get(key)
        if terms is not None:
            return terms
        if key[0] in self._parameters:
            self._freeze(key[0], "a view of the parameter that was made before the forward pass")
        return []

    def _freeze(self, storage: int, reason: str) -> None:
        for key in self._aliases.get(storage, ()):
            for term in self._values[key]:
                self.charges.zero([term], reason)
            self._values[key] = []

    def _written(self, tensor: Tensor, terms: Terms) -> None:
        """An operation in place: other views of the same memory change too."""
        key = key_of(tensor)
        if key[0] in self._parameters:
            for term in terms:
                self.charges.zero([term], "written during the forward pass")
            self._freeze(key[0], "written during the forward pass")
            return
        others = self._aliases.get(key[0], set()) - {key}
        whole = tensor.is_contiguous() and tensor.numel() * tensor.element_size() == (
            tensor.untyped_storage().nbytes()
        )
        moved = {}
        for other in others:
            _, offset, shape, stride, _ = other
            probe = torch.empty_strided(shape, stride, device="meta")
            if whole and offset == 0 and probe.is_contiguous() and probe.numel() == tensor.numel():
                moved[other] = [term.reshape(shape) for term in terms]
        if len(moved) < len(others) and (terms or any(self._values[k] for k in others)):
            for term in terms:
                self.charges.zero([term], "part of a tensor written in place")
            self._freeze(key[0], "part of a tensor written in place")
            terms, moved = [], {}
        self._values.update(moved)
        self._set(tensor, terms)

    def run(self, operations: list[Operation], result: Any) -> Charges:
        for op in operations:
            self.charges.where = op.where
            tensors = [
                t for t in _pytree.tree_leaves((op.args, op.kwargs)) if isinstance(t, Tensor)
            ]
            statistics = any(key_of(t) in self._buffers for t in tensors)
            if not statistics and not any([self.lookup(t) for t in tensors]):
                outputs: list[Terms] = [[] for _ in op.outputs]
            else:
                outputs = apply_rule(self, op)
            for tensor, terms in zip(op.outputs, outputs, strict=True):
                if isinstance(tensor, Tensor):
                    if op.mutates:
                        self._written(tensor, terms)
                    else:
                        self._set(tensor, terms)
        self.charges.where = ""
        for tensor in _pytree.tree_leaves(result):
            self.charges.zero(self.lookup(tensor), OUTPUT)
        return self.charges


OUTPUT = "output of the model"
