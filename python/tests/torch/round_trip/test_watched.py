# SPDX-License-Identifier: MIT
"""Products that are seen only while a module runs."""

from __future__ import annotations

import torch
from test_layers import sources, trip
from torch import nn


def test_autocast_does_not_hide_attention():
    """It multiplies copies of the weights, and keeps them for a second pass."""
    stepped = []
    for autocast in (False, True):
        model = nn.MultiheadAttention(8, 2, batch_first=True)
        optimizer = trip(model, power=0.25)
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            x = torch.randn(3, 5, 8, requires_grad=True)
            loss = sum(model(x, x, x)[0].square().sum() for _ in range(2))
        loss.backward()
        optimizer.step()
        stepped.append(optimizer.stepped)
    assert stepped[0] == stepped[1] and len(stepped[0]) == 2


def test_an_interrupt_in_a_watched_module_leaves_nothing_behind():
    from torch.utils._python_dispatch import _get_current_dispatch_mode

    class Interrupted(nn.MultiheadAttention):
        fail = False

        def forward(self, *arguments, **options):
            result = super().forward(*arguments, **options)
            if self.fail:
                raise KeyboardInterrupt
            return result

    model = Interrupted(8, 2, batch_first=True)
    optimizer = trip(model)
    x = torch.randn(3, 5, 8, requires_grad=True)
    rows = []
    for fail in (True, True, False):
        model.fail = fail
        try:
            model(x, x, x)[0].sum().backward()
        except KeyboardInterrupt:
            continue
        rows.append(next(iter(sources(optimizer).values())).S[0, 0, -1, -1].item())
    optimizer.step()
    assert rows == [45.0] and _get_current_dispatch_mode() is None
