# SPDX-License-Identifier: MIT
"""find_symmetries: proposals from one recorded forward pass, proofs on randomised copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from ._find_input import calling, check_model, check_outputs, frozen_parameters
from .carry import carried, compared
from .interpret import Interpreter
from .probe import Probe
from .prover import Prover
from .recorder import Operation, computations
from .structure import ProvedFor
from .symmetries import Group, Symmetries, unwrap
from .table import OptimizerLike, optimizer_name

_NORMS = ("rsqrt", "_fused_rms_norm", "linalg_vector_norm")


def find_symmetries(
    model: nn.Module,
    example_inputs: Any,
    loss_fn: Callable[..., Tensor] | None = None,
    optimizer: OptimizerLike | None = None,
    *,
    like: Symmetries | None = None,
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
    like: symmetries found on a small model of the same code. They are carried over by names, ties
        and operations instead of being searched, also to more layers and more heads, and random
        elements are tested on this model. Certificates name the small model as the place of the
        proof. Raises ValueError, with the module's name, where the two models differ in more than
        sizes, where widths do not scale alike, and where a group fails the test.

    Raises ValueError for models and inputs on which it cannot work, with the reason.
    """
    with torch.inference_mode(False), torch.enable_grad():
        if like is not None:
            return _carried(like, model, example_inputs, loss_fn, optimizer)
        return _find(model, example_inputs, loss_fn, optimizer)


def _find(
    model: nn.Module,
    example_inputs: Any,
    loss_fn: Callable[..., Tensor] | None,
    optimizer: OptimizerLike | None,
) -> Symmetries:
    optimizer_name(optimizer)  # raises for names that are not known
    plain = unwrap(model)
    probe, proof, operations, outputs = _start(plain, example_inputs, loss_fn)
    forbidden = frozen_parameters(plain)
    charges = Interpreter(probe.parameters, forbidden, probe.buffers).run(operations, outputs)
    signs = None
    if any(op.name in _NORMS for op in operations):
        signs = Interpreter(probe.parameters, forbidden, probe.buffers, 2).run(operations, outputs)
    del operations, outputs  # every tensor of the pass
    prover = Prover(probe, plain)
    prover.search(charges, signs)
    drift = prover.finite()
    _check_untouched(probe)
    return Symmetries(model, prover.groups, prover.refused, optimizer, drift, proof)


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
        probe, proof, operations, outputs = _start(plain, example_inputs, loss_fn)
        charges = Interpreter(probe.parameters, {}, probe.buffers).run(operations, outputs)
        prover = Prover(probe, plain)
        prover.given(groups, charges)
        drift = prover.finite()
        _check_untouched(probe)
        return Symmetries(model, prover.groups, prover.refused, optimizer, drift, proof)


def _carried(
    like: Symmetries,
    model: nn.Module,
    example_inputs: Any,
    loss_fn: Callable[..., Tensor] | None,
    optimizer: OptimizerLike | None,
) -> Symmetries:
    if like.proved_for is None or like.proved_for.carried or not like.proved_for.operations:
        raise ValueError("like: expected what find_symmetries found on a small model by itself")
    like.check_model()
    optimizer_name(optimizer)
    plain = unwrap(model)
    probe, proof, _, _ = _start(plain, example_inputs, loss_fn)
    layout = compared(like, plain, proof)
    groups, refused, drift = carried(like, probe, layout, plain)
    _check_untouched(probe)
    count = sum(p.numel() for p in unwrap(like.model).parameters())
    text = (
        f"proved on a model of the same code with {count:,} parameters; on this one random elements"
        f" changed the outputs by {drift:.0e}"
    )
    return Symmetries(model, groups, refused, optimizer, drift, replace(proof, carried=text))


def _start(
    plain: nn.Module, example_inputs: Any, loss_fn: Callable[..., Tensor] | None
) -> tuple[Probe, ProvedFor, list[Operation], list[Tensor]]:
    check_model(plain)
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
    proof = ProvedFor.of(plain, departures, computations(operations))
    return probe, proof, operations, outputs


def _check_untouched(probe: Probe) -> None:
    if probe.touched():
        raise RuntimeError(
            "the model's parameters or buffers were changed while its copy ran: a hook or a global"
            " refers to the original module; remove it before the search"
        )
