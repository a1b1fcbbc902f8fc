# SPDX-License-Identifier: MIT
"""find_symmetries: proposals from one recorded forward pass, proofs on randomised copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ._find_input import calling, check_model, check_outputs, frozen_parameters, versions_of
from .interpret import Interpreter
from .probe import Probe
from .prover import Prover
from .recorder import Operation
from .structure import ProvedFor
from .symmetries import Group, Symmetries, unwrap
from .table import OptimizerLike, optimizer_name

_NORMS = ("rsqrt", "_fused_rms_norm", "linalg_vector_norm")


def find_symmetries(
    model: nn.Module,
    example_inputs: Any,
    loss_fn: Callable[..., Tensor] | None = None,
    optimizer: OptimizerLike | None = None,
) -> Symmetries:
    """The exact continuous symmetries of a model, each proved on randomised copies.

    model: any module that runs in eager mode, in the mode (train or eval) in which it will be used;
        it is deep-copied, and its weights, buffers and gradients are not touched.
    example_inputs: a tensor, a tuple (positional arguments) or a dict (keyword arguments). A few
        samples of the usual shape are enough; the search runs in double precision.
    loss_fn: None: the outputs must stay the same. loss_fn(output), or loss_fn(output, target) with
        the target as last entry of the tuple of inputs: only the loss must.
    optimizer: for the column of the table that says which groups it feels: the optimizer, its
        class or its name.

    Raises ValueError for models and inputs on which it cannot work, with the reason.
    """
    with torch.inference_mode(False), torch.enable_grad():
        return _find(model, example_inputs, loss_fn, optimizer)


def _find(
    model: nn.Module,
    example_inputs: Any,
    loss_fn: Callable[..., Tensor] | None,
    optimizer: OptimizerLike | None,
) -> Symmetries:
    optimizer_name(optimizer)  # raises for names that are not known
    plain = unwrap(model)
    versions, probe, operations, outputs, departures = _start(plain, example_inputs, loss_fn)
    forbidden = frozen_parameters(plain)
    charges = Interpreter(probe.parameters, forbidden, probe.buffers).run(operations, outputs)
    signs = None
    if any(op.name in _NORMS for op in operations):
        signs = Interpreter(probe.parameters, forbidden, probe.buffers, 2).run(operations, outputs)
    del operations, outputs  # every tensor of the pass
    prover = Prover(probe, plain)
    prover.search(charges, signs)
    return _finish(model, prover, versions, optimizer, departures)


def prove(
    model: nn.Module,
    groups: Sequence[Group],
    example_inputs: Any,
    loss_fn: Callable[..., Tensor] | None = None,
    optimizer: OptimizerLike | None = None,
) -> Symmetries:
    """Those of the groups that are symmetries of the model, proved as by `find_symmetries`; the
    others are in `refused`."""
    with torch.inference_mode(False), torch.enable_grad():
        plain = unwrap(model)
        versions, probe, operations, outputs, departures = _start(plain, example_inputs, loss_fn)
        charges = Interpreter(probe.parameters, {}, probe.buffers).run(operations, outputs)
        prover = Prover(probe, plain)
        prover.given(groups, charges)
        return _finish(model, prover, versions, optimizer, departures)


def _start(
    plain: nn.Module, example_inputs: Any, loss_fn: Callable[..., Tensor] | None
) -> tuple[dict[str, int], Probe, list[Operation], list[Tensor], list[str]]:
    check_model(plain)
    versions = versions_of(plain)
    call, inputs = calling(example_inputs, loss_fn)
    probe = Probe(plain, inputs, call)
    try:
        operations, outputs, departures = probe.record()
    except Exception as error:
        raise ValueError(
            f"the model does not run on a double-precision copy of the example inputs"
            f" ({type(error).__name__}: {error}); check their number, shapes and types"
        ) from error
    check_outputs(outputs)
    return versions, probe, operations, outputs, departures


def _finish(
    model: nn.Module,
    prover: Prover,
    versions: dict[str, int],
    optimizer: OptimizerLike | None,
    departures: Sequence[str],
) -> Symmetries:
    drift = prover.finite()
    plain = unwrap(model)
    if versions_of(plain) != versions:
        raise RuntimeError(
            "the model's parameters or buffers were changed while its copy ran: a hook or a global"
            " refers to the original module; remove it before the search"
        )
    proved_for = ProvedFor.of(plain, departures)
    return Symmetries(model, prover.groups, prover.refused, optimizer, drift, proved_for)
