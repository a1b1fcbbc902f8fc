# SPDX-License-Identifier: MIT
"""The smallest weights with the same function, without data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from .agreement import Agreement
from .certificate import Certificate
from .find import find_symmetries
from .jump import Jump
from .movables import check_optimizer
from .options import Options
from .symmetries import Symmetries


def balance(
    model: nn.Module,
    example_inputs: Any = None,
    *,
    symmetries: Symmetries | None = None,
    optimizer: Optimizer | Sequence[Optimizer] | None = None,
    powers_of_two: bool = True,
    across_decay: bool = False,
    also: Iterable[nn.Module | Mapping[str, Tensor]] = (),
    process_group: Any = "auto",
) -> Certificate:
    """Move the model to the smallest |w|^2 with the same function.

    Needs no data and no loss: only the symmetries, or inputs of the right shape to find them with.
    Scalings are powers of two by default, so that no bit of a mantissa changes. Buffers, gradients,
    the optimizer's state and the copies in `also` move along.
    """
    if optimizer is not None:
        check_optimizer(optimizer)
    if symmetries is None:
        if example_inputs is None:
            raise ValueError(
                "balance: pass symmetries=find_symmetries(model, inputs), or example_inputs to "
                "find them with"
            )
        symmetries = find_symmetries(model, example_inputs, optimizer=optimizer)
    options = Options(powers_of_two=powers_of_two, across_decay=across_decay)
    jump = Jump(symmetries, optimizer, options, Agreement(process_group), model)
    for other in also:
        jump.movables.also(other)
    return jump.run(None, "none")
