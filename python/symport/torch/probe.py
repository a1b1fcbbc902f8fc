# SPDX-License-Identifier: MIT
"""A double-precision copy of a model on which the search may do what it wants."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree

from .recorder import Operation, plain_kernels, record

_LOW = (torch.float32, torch.float16, torch.bfloat16)
_CASTS = {torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16}


class _DoublePrecision(TorchFunctionMode):
    """Casts to lower precision inside of the model stay in double precision; batch norm by running
    statistics is written out if wanted, since PyTorch has no gradients with respect to them."""

    def __init__(self, explicit_batch_norm: bool) -> None:
        super().__init__()
        self._explicit = explicit_batch_norm

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func in _CASTS:
            return args[0].double()
        if kwargs.get("dtype") in _LOW:
            kwargs["dtype"] = torch.float64
        if func in (torch.Tensor.to, torch.Tensor.type):
            args = tuple(
                torch.float64 if isinstance(a, torch.dtype) and a in _LOW else a for a in args
            )
        if self._explicit and func is torch.batch_norm and not args[5]:
            x, weight, bias, mean, variance, _, _, eps = args[:8]
            return _batch_norm(x, mean, variance, weight, bias, eps=eps)
        if self._explicit and func is nn.functional.batch_norm:
            return _batch_norm(*args, **kwargs)
        if self._explicit and func is nn.functional.embedding:
            # A padding index only hides a part of the gradient.
            kwargs = dict(zip(("input", "weight", "padding_idx"), args[:3], strict=False)) | kwargs
            kwargs["padding_idx"] = None
            args = ()
        return func(*args, **kwargs)


def _batch_norm(
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    if training or running_mean is None or running_var is None:
        return nn.functional.batch_norm(
            x, running_mean, running_var, weight, bias, training, momentum, eps
        )
    shape = [1, -1] + [1] * (x.ndim - 2)
    y = (x - running_mean.view(shape)) / torch.sqrt(running_var.view(shape) + eps)
    y = y if weight is None else y * weight.view(shape)
    return y if bias is None else y + bias.view(shape)


def as_double(value: Any) -> Any:
    """Copies of all tensors in a nested structure, floating-point ones in double precision."""

    def convert(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        leaf = leaf.detach().clone()
        return leaf.double() if leaf.is_floating_point() else leaf

    return _pytree.tree_map(convert, value)


@contextmanager
def _double_by_default() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _without_compiler() -> AbstractContextManager[Any]:
    """Compiled parts of the model run in eager mode (PyTorch 2.6 and later)."""
    set_stance = getattr(torch.compiler, "set_stance", None)
    return nullcontext() if set_stance is None else set_stance("force_eager")


def _doubles(model: nn.Module) -> dict[int, Any]:
    """What `copy.deepcopy` is told to take for the tensors of lower precision: their values in
    double precision, so that there is one copy and not two."""
    memo: dict[int, Any] = {}
    for tensor in [*model.parameters(), *model.buffers()]:
        if type(tensor) in (Tensor, nn.Parameter) and tensor.is_leaf and tensor.dtype in _LOW:
            double = tensor.detach().double()
            if isinstance(tensor, nn.Parameter):
                double = nn.Parameter(double)
            memo[id(tensor)] = double.requires_grad_(tensor.requires_grad)
    return memo


class Probe:
    """The copy with its inputs.

    call(model, inputs): runs the model and returns the tensors that must not change.
    parameters: one name for tied parameters.
    """

    def __init__(
        self, model: nn.Module, inputs: Any, call: Callable[[nn.Module, Any], Any]
    ) -> None:
        try:
            self.model = copy.deepcopy(model, _doubles(model))
        except Exception as error:
            raise ValueError(
                f"the model cannot be deep-copied ({type(error).__name__}: {error});"
                " find_symmetries works on a copy so that your weights stay untouched. Keep handles"
                " such as open files, locks and non-leaf tensors out of the module's attributes, or"
                " define __deepcopy__"
            ) from error
        self.model.double()
        self.inputs = as_double(inputs)
        self._call = call
        self.parameters: dict[str, Tensor] = dict(self.model.named_parameters())
        self._all_buffers = dict(self.model.named_buffers())
        self.buffers: dict[str, Tensor] = {
            name: b for name, b in self._all_buffers.items() if b.is_floating_point()
        }
        for parameter in self.parameters.values():
            parameter.grad = None
        self._users = dict([*model.named_parameters(), *model.named_buffers()])
        self._users_inputs = self.inputs
        self._versions = {name: tensor._version for name, tensor in self._users.items()}

    def touched(self) -> bool:
        """Whether somebody changed the user's parameters or buffers meanwhile."""
        return any(t._version != self._versions[name] for name, t in self._users.items())

    @torch.no_grad()
    def randomise(self, seed: int, gain: float) -> dict[str, Tensor]:
        """Random parameters, running statistics and inputs: nothing is zero or one by accident.
        Returns the tensors that hold them.

        gain: 1 keeps the size of activations; larger values drive saturating functions into
        saturation.
        """
        generator = torch.Generator().manual_seed(seed)

        def normal(like: Tensor) -> Tensor:
            # 24 random bits are as generic as 53, and made five times faster.
            return torch.randn(like.shape, generator=generator).to(like.device)

        for name, parameter in self.parameters.items():
            if not parameter.is_floating_point():
                continue
            parameter.copy_(normal(parameter))
            if parameter.ndim >= 2:
                fan_in = max(1, parameter.numel() // parameter.shape[0])
                if any(k in name for k in ("embed", "wte", "wpe")):
                    fan_in = 1
                parameter.mul_(gain * (2.0 / fan_in) ** 0.5)
            elif name.endswith("bias"):
                parameter.mul_(0.5 * gain)
            else:
                parameter.mul_(0.5).exp_().mul_(gain)
        for name, buffer in self.buffers.items():
            if name.endswith("running_mean"):
                buffer.copy_(normal(buffer)).mul_(0.5)
            elif name.endswith("running_var"):
                buffer.copy_(normal(buffer)).mul_(0.5).exp_()

        def shaken(leaf: Any) -> Any:
            if isinstance(leaf, Tensor) and leaf.is_floating_point():
                return gain * gain * (leaf + 0.5 * normal(leaf))
            return leaf

        self.inputs = _pytree.tree_map(shaken, self._users_inputs)
        return {**self.parameters, **self.buffers}

    @torch.no_grad()
    def original(self) -> None:
        """The user's parameters, buffers and inputs."""
        self.inputs = self._users_inputs
        for name, tensor in [*self.parameters.items(), *self._all_buffers.items()]:
            tensor.copy_(self._users[name])

    @contextmanager
    def keeping(self, names: Iterable[str]) -> Iterator[None]:
        """Gives these parameters and buffers their values back at the end."""
        tensors = {name: self.parameters.get(name, self._all_buffers.get(name)) for name in names}
        values = {name: t.detach().clone() for name, t in tensors.items() if t is not None}
        try:
            yield
        finally:
            with torch.no_grad():
                for name, value in values.items():
                    tensors[name].copy_(value)

    @contextmanager
    def _quiet(self, explicit_batch_norm: bool) -> Iterator[None]:
        """The same random numbers in every run; buffers as before afterwards."""
        before = {name: b.detach().clone() for name, b in self._all_buffers.items()}
        devices = [p.device for p in self.parameters.values() if p.device.type == "cuda"]
        with (
            torch.random.fork_rng(devices=list(dict.fromkeys(devices))),
            torch.inference_mode(False),
            torch.enable_grad(),
            _without_compiler(),
            _double_by_default(),
        ):
            torch.manual_seed(0)
            try:
                with plain_kernels(), _DoublePrecision(explicit_batch_norm):
                    yield
            finally:
                with torch.no_grad():
                    for name, value in before.items():
                        if not torch.equal(self._all_buffers[name], value):
                            self._all_buffers[name].copy_(value)

    def _tensors(self) -> list[Tensor]:
        leaves = _pytree.tree_leaves(self._call(self.model, self.inputs))
        tensors = [t for t in leaves if isinstance(t, Tensor)]
        return [t for t in tensors if t.is_floating_point() or t.is_complex()]

    def record(self) -> tuple[list[Operation], list[Tensor], list[str]]:
        with self._quiet(False):
            return record(self.model, self._tensors)

    def run(self) -> list[Tensor]:
        with self._quiet(False), torch.no_grad():
            return self._tensors()

    def gradients(self, names: list[str], seed: int) -> dict[str, Tensor]:
        """Gradient of the sum of outputs times random numbers, with respect to parameters and
        running statistics."""
        leaves = {name: self.parameters.get(name, self.buffers.get(name)) for name in names}
        wanted = {name: leaf for name, leaf in leaves.items() if leaf is not None}
        flags = {name: leaf.requires_grad for name, leaf in wanted.items()}
        for leaf in wanted.values():
            leaf.requires_grad_(True)
        try:
            with self._quiet(explicit_batch_norm=True):
                generator = torch.Generator().manual_seed(seed)
                total = torch.zeros((), dtype=torch.float64)
                for output in self._tensors():
                    output = torch.view_as_real(output) if output.is_complex() else output
                    weights = torch.randn(output.shape, generator=generator, dtype=torch.float64)
                    total = total + (output.cpu() * weights).sum()
                if not total.requires_grad:
                    return {name: torch.zeros_like(leaf) for name, leaf in wanted.items()}
                grads = torch.autograd.grad(total, list(wanted.values()), allow_unused=True)
        finally:
            for name, leaf in wanted.items():
                leaf.requires_grad_(flags[name])
        return {
            name: torch.zeros_like(leaf) if grad is None else grad
            for (name, leaf), grad in zip(wanted.items(), grads, strict=True)
        }
