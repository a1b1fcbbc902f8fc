# SPDX-License-Identifier: MIT
"""One teleport of a model, with a closure to judge it by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from .agreement import Agreement
from .certificate import Certificate
from .find import find_symmetries
from .jump import Jump
from .loss import Loss
from .optimizers import OptimizerOrSeveral, check_optimizer
from .options import OptionArguments, Options
from .symmetries import Symmetries, unwrap

if TYPE_CHECKING:
    from typing_extensions import Unpack


def teleport(
    model: nn.Module,
    closure: Callable[[], Any],
    *,
    optimizer: OptimizerOrSeveral | None = None,
    symmetries: Symmetries | None = None,
    turn: int = 0,
    also: Iterable[nn.Module | Mapping[str, Tensor]] = (),
    process_group: Any = "auto",
    **options: Unpack[OptionArguments],
) -> Certificate:
    """Move the model along its symmetries to a better place with the same loss.

    Parameters, `.grad`, buffers, the optimizer's state and the copies in `also` move together. The
    loss of `closure` is evaluated before and after; a teleport that would change it, or that does
    not reach its objective, is refused and leaves every bit as it was.

    closure: returns the loss of the same data at every call; it may call `backward` or not. Random
        numbers of torch, NumPy and Python (dropout) are the same at every call. It is called twice
        before anything moves, and a ValueError is raised if the two losses differ.
    optimizer: the one that trains the model, a list of all that do, or a RoundTrip.
    symmetries: from `find_symmetries`, which is called with the inputs of the closure if this is
        None.
    objective: "balance", the smallest |w|^2 (needs no gradient);
        "alternate", white gauges of the pairs of matrices, `turn` choosing the side;
        "gradient", the largest gradient with singular values of the element in [1/kappa, kappa];
        "flat", the smallest gradient;
        "decrease", the best of all these after `rehearsal` real steps of the optimizer.
    options: the fields of `Options`, with its defaults: tolerance, powers_of_two, kappa, scale,
        rehearsal and across_decay besides the objective.
    process_group: "auto" is the default group of torch.distributed where it is initialised: all
        ranks then take the jump of rank 0, judged by the mean of their losses. None: alone.
    """
    chosen = Options.of(options)
    if not callable(closure):
        raise TypeError("closure: expected a function that returns the loss; see balance()")
    if optimizer is not None:
        check_optimizer(optimizer)
    if chosen.objective == "decrease" and optimizer is None:
        raise ValueError("objective='decrease' takes steps of the optimizer: pass optimizer=...")
    if symmetries is None:
        symmetries = _find(model, closure)
    jump = Jump(symmetries, optimizer, chosen, Agreement(process_group), model)
    for other in also:
        jump.movables.also(other)
    return jump.run(closure, "closure", turn)


def _find(model: nn.Module, closure: Callable[[], Any]) -> Symmetries:
    """The symmetries, with the inputs that the closure gives to the model."""
    inner = unwrap(model)
    seen: list[Any] = []

    def record(module: nn.Module, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        if arguments and keywords:
            raise ValueError(
                "the closure calls the model with positional and keyword arguments; call "
                "find_symmetries yourself and pass symmetries=..."
            )
        seen.append(keywords or arguments)

    handle = inner.register_forward_pre_hook(record, with_kwargs=True)
    try:
        Loss(closure, inner, Agreement(None)).value()
    finally:
        handle.remove()
    if not seen:
        raise ValueError("closure: it does not call the model")
    return find_symmetries(inner, seen[0])
