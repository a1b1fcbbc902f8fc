# SPDX-License-Identifier: MIT
"""Any optimizer in a borrowed gauge: it steps where the inputs of every layer are white, and the
step comes back."""

from __future__ import annotations

import math
import warnings
from collections import ChainMap, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from . import exchange, gauge, traits
from .find import find, unwrap
from .matrices import Matrices
from .recorder import Recorder
from .source import Inputs, Partner, Source
from .table import describe
from .trip import Trip, cut_moments, moved_state


class RoundTrip(Optimizer):
    """Lets an optimizer take its steps in a better gauge::

        optimizer = RoundTrip(model, torch.optim.AdamW(model.parameters(), lr=3e-4))

    and is an optimizer like any other from then on: for schedulers, scalers, trainers. It may also
    be made of several, `[muon, adamw]`.

    A weight W multiplies inputs h whose second moment is A (a running mean over steps). With
    g = c (A + lambda I)^-power the same layer is (W g^-1)(g h). The optimizer sees the gradient G g
    there, its step D comes back as D g, and W itself is never rewritten. Gradients are plain until
    step() and after it. The learning rate keeps its meaning, and so does weight decay.

    power: 0.5 makes inputs white, 0 leaves them as they are; a pair (hidden, raw) tells layers
        whose inputs depend on parameters from those that are given data, where white inputs learn
        faster and generalise worse. The default is (0.25, 0); half of that with SGD, whose steps g
        multiplies twice; and 0.5 where length is "metric".
    damping: lambda = (damping + d / rows seen) tr(A) / d for d inputs.
    refresh: steps from one gauge to the next.
    rows: at most so many rows of a layer's inputs enter A at a forward pass; None for all.
    length: "kept" chooses c so that inputs keep their mean square. "metric" is c = 1: for gradient
        descent the step is G (A + lambda I)^-1 then, and the learning rate has no unit. Start at
        0.3 with SGD.
    exclude: names or patterns of parameters or modules to leave alone, such as "head" or "*.down".
    pairs: names (A, B) of parameters of which only the product B A matters; LoRA's are found.
    process_group: where statistics are exchanged; "auto" is the group of DistributedDataParallel or
        of the shards of fully_shard, None keeps every rank to itself.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: Optimizer | Sequence[Optimizer] | None = None,
        *,
        power: float | tuple[float, float] | None = None,
        damping: float = 0.1,
        refresh: int = 10,
        rows: int | None = 256,
        length: str = "kept",
        exclude: Iterable[str] = (),
        pairs: Iterable[tuple[str, str]] = (),
        process_group: Any = "auto",
    ):
        self.optimizers = traits.checked(optimizer)
        if length not in ("kept", "metric"):
            raise ValueError(f"length: found {length!r}, expected 'kept' or 'metric'")
        if power is None:
            twice = all(traits.is_linear(o) for o in self.optimizers)
            power = 0.5 if length == "metric" else (0.125 if twice else 0.25, 0.0)
        hidden, raw = power if isinstance(power, tuple) and len(power) == 2 else (power, power)
        for value in (hidden, raw):
            check("power", value, 0, 1)
        check("damping", damping, 0)
        check("refresh", refresh, 1, whole=True)
        if rows is not None:
            check("rows", rows, 1, whole=True)
        self.power = (float(hidden), float(raw))
        self.damping, self.refresh, self.length = float(damping), refresh, length
        self._model, self._process_group = model, process_group
        self._found = find(unwrap(model), pairs, exclude)
        if self._owners().keys().isdisjoint(map(id, model.parameters())):
            raise ValueError(
                "optimizer: has no parameter of this model; make it from model.parameters(), after"
                " whatever replaces them, such as fully_shard"
            )
        self._recorder = Recorder(self._found, self.power, rows)
        for A, B in self._found.pairs:
            A.source = Partner(B.parameter, False, self.power[0])
            B.source = Partner(A.parameter, True, self.power[0])
        self._decays: dict[str, traits.Decay] = defaultdict(traits.Decay)
        self._steps = 0
        self._warned = False
        # Not Optimizer.__init__, which would collect parameters: groups and state are those of the
        # optimizers.
        super().__setstate__({"defaults": dict(self.optimizers[0].defaults)})

    # What an optimizer has.

    @property
    def param_groups(self) -> list[dict[str, Any]]:  # type: ignore[override]
        if len(self.optimizers) == 1:
            return self.optimizers[0].param_groups
        return [group for optimizer in self.optimizers for group in optimizer.param_groups]

    @property
    def state(self) -> Any:  # type: ignore[override]
        if len(self.optimizers) == 1:
            return self.optimizers[0].state
        return ChainMap(*(dict(o.state) for o in self.optimizers))

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        if len(self.optimizers) > 1:
            raise ValueError("add_param_group: call it on the optimizer that shall have the group")
        self.optimizers[0].add_param_group(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """That of the optimizer, or of all in "optimizers", with the gauges in "round_trip"."""
        own = {"steps": self._steps, **self._recorder.state_dict()}
        own["pairs"] = {m.name: m.source.g for pair in self._found.pairs for m in pair if m.source}
        own["decays"] = {name: d.buffer for name, d in self._decays.items() if d.buffer is not None}
        states = [optimizer.state_dict() for optimizer in self.optimizers]
        if len(states) == 1:
            return {**states[0], "round_trip": own}
        return {"optimizers": states, "round_trip": own}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        own = state_dict.get("round_trip")
        if own is None:
            raise ValueError(
                "load_state_dict: this is the state of an optimizer without RoundTrip; load it into"
                " that optimizer before RoundTrip(model, optimizer)"
            )
        rest = {key: value for key, value in state_dict.items() if key != "round_trip"}
        states = rest.get("optimizers", [rest])
        if len(states) != len(self.optimizers):
            raise ValueError(
                f"load_state_dict: found {len(states)} optimizers, expected {len(self.optimizers)}"
            )
        for optimizer, state in zip(self.optimizers, states, strict=True):
            optimizer.load_state_dict(state)
        self._steps = own["steps"]
        self._recorder.load_state_dict(own)
        for m in (m for pair in self._found.pairs for m in pair):
            if m.source is not None and own["pairs"].get(m.name) is not None:
                m.source.g = own["pairs"][m.name].to(m.parameter.device, copy=True)
        self._decays.clear()
        for name, buffer in own["decays"].items():
            self._decays[name].buffer = buffer.clone()

    def __repr__(self) -> str:
        return describe(self)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a RoundTrip cannot be copied or pickled; save its state_dict()")

    # What it steps.

    @property
    def stepped(self) -> dict[str, int]:
        """The parameters that are stepped in a gauge, and how many numbers they have."""
        owners = self._owners()
        return {
            m.name: m.parameter.numel()
            for m in self._matrices()
            if m.source is not None and m.parameter.requires_grad and id(m.parameter) in owners
        }

    @property
    def skipped(self) -> dict[str, str]:
        """Other matrices of parameters, which are stepped as without a round trip -> why."""
        owners, reasons = self._owners(), dict(self._found.skipped)
        for path, module in self._found.watched.items():
            for key, p in module.named_parameters():
                if p.dim() > 1:
                    reasons.setdefault(f"{path}.{key}" if path else key, "not multiplied so far")
        for m in self._matrices():
            reasons.pop(m.name, None)
            if not m.parameter.requires_grad:
                reasons[m.name] = "frozen"
            elif id(m.parameter) not in owners:
                reasons[m.name] = "in none of the optimizers"
            elif m.name in self._recorder.raw:
                reasons[m.name] = "given data, where the power is 0"
            elif m.source is None:
                reasons[m.name] = "its forward was not called so far"
        return reasons

    def _matrices(self) -> list[Matrices]:
        return self._found.layers + [m for pair in self._found.pairs for m in pair]

    def _in_gauges(self, owners: dict) -> list[Matrices]:
        """Those that have a gauge and an optimizer."""
        users = self._users(owners).items()
        return [m for source, found in users if source.g is not None for m in found]

    def _owners(self) -> dict[int, tuple[Optimizer, dict[str, Any]]]:
        return {
            id(p): (optimizer, group)
            for optimizer in self.optimizers
            for group in optimizer.param_groups
            for p in group["params"]
        }

    # The step.

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # type: ignore[override]
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._check()
        owners = self._owners()
        with gauge.full_precision(self._model_device().type):
            self._renew(owners)
            trips = [
                Trip(m, *owners[id(m.parameter)], self._decays[m.name])
                for m in self._in_gauges(owners)
                if m.parameter.grad is not None
            ]
        self._travel("step", trips)
        self._recorder.next_step()
        self._steps += 1
        self._warn_of_low_coverage()
        return loss

    @torch.no_grad()
    def home(self) -> None:
        """Moves the optimizers' state out of the gauges and forgets what the gauges are made of,
        so that weights and state may be changed from outside, as a `Teleporter` does. The next
        steps find new gauges, as the first steps do."""
        owners = self._owners()
        with gauge.full_precision(self._model_device().type):
            for source, users in self._users(owners).items():
                if source.g is not None:
                    self._move(source, users, gauge.identity(source.g), owners)
        for source in self._recorder.sources:
            source.S = None  # what was seen was given to layers that are moved since
        self._steps = 0

    def train(self) -> None:
        """For schedule-free optimizers: to the weights that are trained."""
        self._switch("train")

    def eval(self) -> None:
        """For schedule-free optimizers: to the averaged weights."""
        self._switch("eval")

    @torch.no_grad()
    def _switch(self, name: str) -> None:
        owners = self._owners()
        trips = []
        for m in self._in_gauges(owners):
            optimizer, group = owners[id(m.parameter)]
            if hasattr(optimizer, name) and traits.reads_weights(optimizer):
                trips.append(Trip(m, optimizer, group, self._decays[m.name]))
        self._travel(name, trips)

    def _travel(self, name: str, trips: list[Trip]) -> None:
        """There, optimizer.name() of all that have it, and back. Whatever fails, an interrupt too,
        weights and gradients are home again, as they were."""
        device = self._model_device().type
        try:
            with gauge.full_precision(device):
                for trip in trips:
                    trip.there()
            for optimizer in self.optimizers:
                if hasattr(optimizer, name):
                    getattr(optimizer, name)()
            with gauge.full_precision(device):
                for trip in trips:
                    trip.back()
        except BaseException:
            for trip in trips:
                trip.cancel()
            raise

    def _check(self) -> None:
        if self._recorder.replaced:
            raise RuntimeError("this model has a newer RoundTrip; use that one")
        for m in self._matrices():
            if m.module._parameters.get(m.key) is not m.parameter:
                raise RuntimeError(
                    f"{m.name} was replaced after RoundTrip(model, optimizer), by"
                    " load_state_dict(assign=True), fully_shard or the like: make the optimizer and"
                    " RoundTrip after that"
                )

    def _model_device(self) -> torch.device:
        return self._matrices()[0].parameter.device if self._matrices() else torch.device("cpu")

    def _renew(self, owners: dict) -> None:
        """New gauges, at the first steps and then at every `refresh`-th, and state moved to them.
        Those of pairs follow the factors at every step."""
        step = self._steps
        due = step % self.refresh == 0 or (step < self.refresh and step & (step - 1) == 0)
        seen, given = self._recorder.group, self._process_group
        group = exchange.group_of(self._model, seen, self._matrices(), given)
        world = exchange.size(group)
        if due and world > 1:
            self._recorder.agree(group)
            for m in self._found.layers:
                if m.source is not None and m.source.S is None:
                    m.source.begin(m.of(m.parameter))
            exchange.share(self._recorder.sources, group)
        for source, users in self._users(owners).items():
            found = None if isinstance(source, Inputs) and not due else source.statistics()
            if found is not None:
                kept = self.length == "kept"
                new = gauge.make(found[0], found[1] * world, self.damping, source.power, kept)
                self._move(source, users, new, owners)

    def _users(self, owners: dict) -> dict[Source, list[Matrices]]:
        """Every source with the matrices of it that have an optimizer."""
        users: dict[Source, list[Matrices]] = defaultdict(list)
        for m in self._matrices():
            if id(m.parameter) in owners and m.source is not None:
                users[m.source].append(m)
        return users

    def _move(self, source: Source, users: list[Matrices], new: Tensor, owners: dict) -> None:
        """To another gauge, with the state of all users; nothing has moved where that fails."""
        one = gauge.identity(new)
        old = one if source.g is None else source.g
        optimizers = [owners[id(m.parameter)][0] for m in users]
        reads = any(map(traits.reads_weights, optimizers))
        inverse = gauge.over(one, new) if reads else None
        moves = [
            (m, tensor, X)
            for m, optimizer in zip(users, optimizers, strict=True)
            for tensor, X in moved_state(m, optimizer, old, new)
        ]
        for m, tensor, X in moves:
            m.write(X, tensor)
        source.g, source.inverse = new, inverse
        for m in users:
            cut_moments(m, *owners[id(m.parameter)])

    def _warn_of_low_coverage(self) -> None:
        """Once, where less than half of the matrices that nobody took out step in a gauge."""
        if self._warned:
            return
        self._warned = True
        chosen = ("excluded", "an embedding", "given data", "frozen", "in none")
        stepped, parameters = self.stepped, dict(unwrap(self._model).named_parameters())
        missed = {
            name: why
            for name, why in self.skipped.items()
            if not why.startswith(chosen) and name in parameters and parameters[name].requires_grad
        }
        count = sum(parameters[name].numel() for name in missed)
        if count > sum(stepped.values()):
            name, why = max(missed.items(), key=lambda item: parameters[item[0]].numel())
            warnings.warn(
                f"RoundTrip steps {sum(stepped.values()):,} parameters in a gauge and could not do"
                f" so with {count:,}, the largest {name} ({why}); optimizer.skipped has all"
                " reasons",
                stacklevel=3,
            )


def check(name: str, value: float, low: float, high: float = math.inf, whole: bool = False) -> None:
    right = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not (right and low <= value <= high and math.isfinite(value)):
        limits = f"from {low} to {high}" if math.isfinite(high) else f"of at least {low}"
        kind = "whole number" if whole else "number"
        raise ValueError(f"{name}: found {value!r}, expected a {kind} {limits}")
