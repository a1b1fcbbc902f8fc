# SPDX-License-Identifier: MIT
"""Round trips by their definition, without the library: rows by autograd, dense matrices,
float64."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


def rows_by_autograd(module: nn.Module, x: Tensor) -> Tensor:
    """(groups, rows, inputs): the gradient of one output number in its own weights is the row that
    it was made from."""
    z = module(x)
    if isinstance(module, nn.Linear):
        z = z.reshape(-1, z.shape[-1]).T[None]  # one sample, channels first
    elif z.dim() == len(module.kernel_size) + 1:
        z = z[None]
    groups = getattr(module, "groups", 1)
    outputs = z.shape[1] // groups
    rows = []
    for g in range(groups):
        channel = g * outputs
        numbers = z[:, channel].reshape(-1)
        weight_rows = [
            torch.autograd.grad(number, module.weight, retain_graph=True)[0][channel].flatten()
            for number in numbers
        ]
        rows.append(torch.stack(weight_rows))
    return torch.stack(rows)


def expected_gradients(
    model: nn.Module,
    modules: list[nn.Module],
    losses: list[Callable[[], Tensor]],
    damping: float,
) -> list[tuple[Tensor, Tensor | None]]:
    """[G b] (A + l I)^-1 for the gradient that is the sum over the losses, A the mean over all
    rows of all uses."""
    inputs: dict[nn.Module, list[Tensor]] = {m: [] for m in modules}
    hooks = [
        m.register_forward_pre_hook(lambda m, args: inputs[m].append(args[0].detach()))
        for m in modules
    ]
    gradients = None
    parameters = [p for m in modules for p in (m.weight, m.bias) if p is not None]
    for loss in losses:
        new = torch.autograd.grad(loss(), parameters)
        gradients = (
            new if gradients is None else [a + b for a, b in zip(gradients, new, strict=True)]
        )
    for hook in hooks:
        hook.remove()
    by_parameter = dict(zip(parameters, gradients, strict=True))
    expected = []
    for module in modules:
        H = torch.cat([rows_by_autograd(module, x) for x in inputs[module]], 1)
        groups, count, d = H.shape
        G = by_parameter[module.weight].reshape(groups, -1, d)
        if module.bias is not None:
            H = torch.cat((H, torch.ones_like(H[..., :1])), 2)
            G = torch.cat((G, by_parameter[module.bias].reshape(groups, -1, 1)), 2)
        U = []
        for g in range(groups):
            A = H[g].T @ H[g] / count
            damped = A + damping * A.trace() / min(count, A.shape[0]) * torch.eye(
                len(A), dtype=A.dtype
            )
            U.append(torch.linalg.solve(damped, G[g].T).T)
        whole = torch.stack(U)
        bias = whole[..., d].reshape(-1) if module.bias is not None else None
        expected.append((whole[..., :d].reshape(module.weight.shape), bias))
    return expected
