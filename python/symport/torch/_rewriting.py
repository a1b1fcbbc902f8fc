# SPDX-License-Identifier: MIT
"""Round trips: every linear layer takes its step in its own white gauge, and comes back."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from . import _exchange, _fused, _gauge
from ._find_layers import find_layers
from ._gauge import Rows
from ._kernels import Average, Kernel
from ._layers import Layer, is_sharded
from ._pairs import step_pair
from ._recorder import RowRecorder
from ._round_trip_table import describe
from .round_trip.arguments import check_count, check_number, unwrap

KERNELS = ("batch", "average")


class RoundTrip:
    """Rewrites gradients between ``backward()`` and ``optimizer.step()``::

        round_trip = RoundTrip(model)
        for x, y in loader:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            round_trip.step()
            optimizer.step()

    For every ``Linear`` and ``Conv*d``: grad <- grad (A + lambda I)^-1, A the mean of h h' over
    the rows of the layer's input (samples, tokens or patches; the constant 1 of a bias is one of
    the inputs) and lambda = damping tr(A) / min(rows, inputs). For LoRA pairs B A: each factor by
    the Gram matrix of the other. All other parameters are left alone; ``print(round_trip)`` names
    them with the reason.

    The loss must be a mean over the batch (reduction="sum" makes steps longer by the number of
    samples), and inputs should be standardised. The learning rate has no unit then: start at 0.3
    with SGD, at 0.01 to 0.03 with momentum, and at 0.005 with Adam and AdamW (0.002 to 0.01: three
    to ten times the usual rate).

    damping: how much of the mean eigenvalue is added to all; 1 is nearer to plain gradients.
    kernel: "batch" is A of the rows of this step; "average" a running mean over steps, which sees
        more directions than a small batch has rows, and costs more.
    refresh: steps between two inverses of the running mean.
    rows: the most rows of a layer's input that enter A at a step, chosen at random; None for all.
    pair_damping: the damping of LoRA pairs.
    pairs: names (A, B) of further parameters of which only the product B A matters.
    seed: of the choice of rows.
    process_group: where statistics are exchanged. "auto" is the group of DistributedDataParallel,
        or the default one if there is one; None keeps every rank to itself.
    fused: let backward() form the white direction at once where a linear layer has more inputs
        than the batch has rows, which saves one product of the gradient's size. What stands between
        backward() and step(), such as clipping, then sees the white directions; one backward() and
        one call of each such layer for every step(). Other layers, autocast and several ranks do
        without it.
    """

    def __init__(
        self,
        model: nn.Module,
        damping: float = 0.1,
        kernel: str = "batch",
        refresh: int = 10,
        *,
        rows: int | None = 256,
        pair_damping: float = 1e-3,
        pairs: Iterable[tuple[str, str]] = (),
        seed: int = 0,
        process_group: Any = "auto",
        fused: bool = False,
    ):
        check_number("damping", damping)
        check_number("pair_damping", pair_damping)
        if kernel not in KERNELS:
            raise ValueError(f"kernel: found {kernel!r}, expected 'batch' or 'average'")
        check_count("refresh", refresh)
        if rows is not None:
            check_count("rows", rows)
        if fused and kernel != "batch":
            raise ValueError(f"fused: found kernel={kernel!r}, expected 'batch' with fused=True")
        self.damping, self.kernel, self.refresh = float(damping), kernel, refresh
        self.rows, self.pair_damping = rows, float(pair_damping)
        self.process_group, self.fused = process_group, bool(fused)
        self._model = model
        self._generator = torch.Generator().manual_seed(seed)
        root = unwrap(model)
        found = find_layers(root, pairs)
        self._layers, self._pairs, self._left_alone = found.layers, found.pairs, found.left_alone
        if not self._layers and not self._pairs:
            reasons = "".join(f"\n  {name}: {why}" for name, why in self._left_alone.items())
            raise ValueError(f"the model has no layer that a round trip could step{reasons}")
        self._averages: dict[str, Average] = {}
        self._probes: dict[int, Tensor] = {}
        self._skipped: dict[str, str] = {}
        self._chosen: dict[int, Tensor] = {}
        self._steps = 0
        self._used: dict[str, tuple[weakref.ref[Tensor], int]] = {}
        self._unwatch: Any = None
        self._handles: list[Any] = []
        for layer in self._layers:
            recorder = RowRecorder(self, layer)
            for module in layer.modules:
                if any(
                    isinstance(h, RowRecorder) and h.trip for h in module._forward_hooks.values()
                ):
                    self.remove()
                    raise ValueError(
                        f"{layer.name}: the model has a RoundTrip already; call its remove() first"
                    )
                self._handles.append(module.register_forward_hook(recorder, with_kwargs=True))
            if not is_sharded(layer.weight) and layer.weight.requires_grad:
                recorder.wait_for_weight()
                self._handles.append(
                    layer.weight.register_post_accumulate_grad_hook(recorder.accumulated)
                )

        self._watch_optimizers()

    def _watch_optimizers(self) -> None:
        this = weakref.ref(self)

        def stepped(optimizer: torch.optim.Optimizer, *_: Any) -> None:
            trip = this()
            if trip is not None:
                trip._optimizer_stepped(optimizer)

        handle = register_optimizer_step_post_hook(stepped)
        self._unwatch = weakref.finalize(self, handle.remove)

    # The step.

    @torch.no_grad()
    def step(self) -> None:
        """Rewrites the gradients of all layers that took part in backward() since the last step.

        Raises RuntimeError, and changes nothing, after optimizer.step() has used these gradients.
        """
        if not self._handles and self._layers:
            raise RuntimeError("step() after remove(): make a new RoundTrip(model)")
        self._check_order()
        device = self._parameters()[0].device
        with torch.autocast(device_type=device.type, enabled=False):
            group = _exchange.group_of(self._model, self.process_group)
            _fused.check_whole(self._layers)
            taken = [layer.take(self._choose) for layer in self._layers]
            done = _fused.take(self._layers)
            ready = [layer.weight.grad is not None for layer in self._layers]
            pairs = [p for p in self._pairs if p.A.grad is not None or p.B.grad is not None]
            if not any(ready) and not pairs:
                raise RuntimeError(
                    "step() found no gradients: call it after loss.backward()"
                    " and before zero_grad()"
                )
            if _exchange.world_size(group) > 1:
                kernels = _exchange.exchanged_kernels(
                    self._layers, taken, self.kernel == "batch", group
                )
            else:
                kernels = [
                    self._kernel(layer, t) for layer, t in zip(self._layers, taken, strict=True)
                ]
            if all(k is None for k in kernels) and not pairs and not done:
                raise RuntimeError(
                    "step() found gradients but no inputs that they come from: call it once for "
                    "each backward(), and make RoundTrip(model) before the forward pass (of a "
                    "compiled model: before its first one)"
                )
            self._skipped = {name: why for name, why in done.items() if why}
            self._chosen.clear()
            jobs = []
            for layer, kernel, has_gradient in zip(self._layers, kernels, ready, strict=True):
                if kernel is not None:
                    jobs.append((layer, kernel, has_gradient))
                elif has_gradient and layer.name not in done:
                    self._skipped[layer.name] = "its forward was not called"
            if self.kernel == "average":
                self._step_averages(jobs)
            else:
                self._step_batches([(layer, kernel) for layer, kernel, ready in jobs if ready])
            for pair in pairs:
                if not step_pair(pair, self.pair_damping):
                    self._skipped[pair.name] = "its factors are not finite"
        self._steps += 1

    def _check_order(self) -> None:
        """Raises if a weight was written between its backward() and this step."""
        stepped = [
            f"layer {layer.name!r}: its weight"
            for layer in self._layers
            if layer.weight.grad is not None
            and (layer.uses or layer.fused is not None)
            and layer.version not in (None, layer.weight._version)
        ]
        # Fused optimizers, and those that write to .data, leave the version as it was.
        for name, parameter in self._named():
            gradient, used = parameter.grad, self._used.get(name)
            if gradient is not None and used is not None:
                if used[0]() is gradient and used[1] == gradient._version:
                    stepped.append(name)
        if stepped:
            raise RuntimeError(
                f"{stepped[0]} changed since backward(): call step() after backward() and"
                " before optimizer.step(), which has used the plain gradients now"
            )

    def _optimizer_stepped(self, optimizer: torch.optim.Optimizer) -> None:
        """Notes the gradients that an optimizer has used."""
        own = {id(p) for group in optimizer.param_groups for p in group["params"]}
        for name, parameter in self._named():
            if parameter.grad is not None and id(parameter) in own:
                self._used[name] = (weakref.ref(parameter.grad), parameter.grad._version)

    def _named(self) -> list[tuple[str, nn.Parameter]]:
        layers = [(f"layer {layer.name!r}: its weight", layer.weight) for layer in self._layers]
        return layers + [
            (f"pair {pair.name!r}: its factor {which}", factor)
            for pair in self._pairs
            for which, factor in (("A", pair.A), ("B", pair.B))
        ]

    def _kernel(self, layer: Layer, taken: tuple[Rows, int] | None) -> Kernel | None:
        if taken is None:
            return None
        rows, seen = taken
        if self.kernel == "batch" and rows.count < layer.dimension:
            return Kernel(rows, None, rows.count, seen)
        return Kernel(rows, _gauge.second_moment(rows, layer.steps_bias), rows.count, seen)

    def _step_averages(self, jobs: list[tuple[Layer, Kernel, bool]]) -> None:
        for layer, kernel, has_gradient in jobs:
            average = self._averages.setdefault(layer.name, Average())
            if not average.add(kernel, self.damping, self._steps % self.refresh == 0):
                self._skipped[layer.name] = "its inputs are not finite"
            elif has_gradient:
                assert average.inverse is not None and kernel.A is not None
                G, bias, own = layer.gradient()
                _gauge.by_inputs(G, bias, average.inverse)
                share = max(1.0, _gauge.largest_share(kernel.A, average.inverse))
                G.div_(share)
                if bias is not None:
                    bias.div_(share)
                if not own:
                    layer.write(G, bias)

    def _step_batches(self, jobs: list[tuple[Layer, Kernel]]) -> None:
        problems = []
        for layer, kernel in jobs:
            if kernel.A is None:
                assert kernel.rows is not None
                A = _gauge.gram(kernel.rows, layer.steps_bias)  # s times A, in another basis
            else:
                A = kernel.A
            problems.append((A, self.damping / min(kernel.count, layer.dimension)))
        solved = _gauge.damped_inverses(problems)
        for (layer, kernel), (inverse, damping) in zip(jobs, solved, strict=True):
            if inverse is None:
                self._skipped[layer.name] = "its inputs are not finite"
                continue
            G, bias, own = layer.gradient()
            if kernel.A is not None:
                _gauge.by_inputs(G, bias, inverse)
            else:
                self._step_by_rows(layer, kernel, G, bias, inverse, damping)
            if not own:
                layer.write(G, bias)

    def _step_by_rows(
        self,
        layer: Layer,
        kernel: Kernel,
        G: Tensor,
        bias: Tensor | None,
        inverse: Tensor,
        damping: Tensor,
    ) -> None:
        assert kernel.rows is not None
        multiple = None
        if kernel.rows.delta is not None:
            multiple = _gauge.multiple_of(G, bias, kernel.rows, self._probe(layer, G))
        if multiple is not None:
            _gauge.by_delta(G, bias, kernel.rows, inverse, multiple)
        else:
            _gauge.by_rows(G, bias, kernel.rows, inverse, damping / kernel.count)

    # Recording.

    def _choose(self, total: int) -> Tensor | None:
        """One row of each of `rows` equal parts of the rows; None: all of them."""
        if self.rows is None:
            return None
        group = _exchange.group_of(self._model, self.process_group)
        limit = max(1, self.rows // _exchange.world_size(group))
        if total <= limit:
            return None
        if total not in self._chosen:  # layers with as many rows take the same ones
            offsets = torch.rand(limit, generator=self._generator, dtype=torch.float64)
            index = (torch.arange(limit) + offsets).mul_(total / limit).long()
            self._chosen[total] = index.clamp_(max=total - 1)
        return self._chosen[total]

    def _wants_delta(self, layer: Layer, kept: int, total: int) -> bool:
        return (
            self.kernel == "batch"
            and kept == total
            and kept < layer.dimension
            and isinstance(layer.modules[0], nn.Linear)
            and not is_sharded(layer.weight)
        )

    def _fuses(self, layer: Layer, rows: int) -> bool:
        if not self.fused or (self.rows is not None and rows > self.rows):
            return False
        group = _exchange.group_of(self._model, self.process_group)
        return self._wants_delta(layer, rows, rows) and _exchange.world_size(group) == 1

    def _probe(self, layer: Layer, like: Tensor) -> Tensor:
        d = layer.inputs
        if d not in self._probes:
            self._probes[d] = torch.randn(d, generator=torch.Generator().manual_seed(d))
        return self._probes[d].to(like)

    def _parameters(self) -> list[nn.Parameter]:
        layers = [layer.weight for layer in self._layers]
        return layers + [factor for pair in self._pairs for factor in (pair.A, pair.B)]

    # Taking it off, saving, showing.

    def remove(self) -> None:
        """Takes the hooks off the model. Gradients and weights stay as they are."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        if self._unwatch is not None:
            self._unwatch()
        for layer in self._layers:
            layer.uses.clear()
            layer.fused = None

    def __enter__(self) -> RoundTrip:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run needs for the same bits: the choice of rows and the running means."""
        return {
            "version": 1,
            "kernel": self.kernel,
            "steps": self._steps,
            "generator": self._generator.get_state(),
            "averages": {
                n: a.state_dict() for n, a in self._averages.items() if a.inverse is not None
            },
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for key in ("version", "kernel", "steps", "generator", "averages"):
            if key not in state:
                raise ValueError(f"the state of a RoundTrip has a field {key!r}; this one does not")
        if state["version"] != 1:
            raise ValueError(f"the state has version {state['version']!r}, expected 1")
        if state["kernel"] != self.kernel:
            raise ValueError(
                f"the state is that of kernel={state['kernel']!r}, this is kernel={self.kernel!r}"
            )
        layers = {layer.name: layer for layer in self._layers}
        averages = {}
        for name, saved in state["averages"].items():
            if name not in layers:
                raise ValueError(f"the state has a layer {name!r} that this model does not have")
            layer = layers[name]
            shape = (layer.groups, layer.dimension, layer.dimension)
            if tuple(saved["A"].shape) != shape:
                raise ValueError(
                    f"{name}: the state has shape {tuple(saved['A'].shape)}, expected {shape}"
                )
            averages[name] = Average.from_state(saved, layer.weight.device)
        self._averages = averages
        self._steps = int(state["steps"])
        self._generator.set_state(state["generator"].cpu())

    def __repr__(self) -> str:
        return describe(self)
