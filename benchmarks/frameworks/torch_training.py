# SPDX-License-Identifier: MIT
"""SGD, the optimizers of torch.optim, and an epoch with validation."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from protocol import peak_kilobytes, timed
from torch_network import Work, loss


class Training:
    def __init__(self, work: Work):
        self.work = work
        self.optimizers: dict[Any, Any] = {}
        work.forgetting.append(self.optimizers.clear)

    def sgd(self, steps: str, rate: str):
        weights = self.work.p.trainable()

        def work() -> float:
            for _ in range(int(steps)):
                last = self.work.sgd_step(weights, self.work.p.X, self.work.p.target, float(rate))
            return last

        return timed(work)

    def optimizer(self, kind: Any, steps: str, rate: str):
        first = kind not in self.optimizers
        if first:  # kept: what is compiled for one optimizer is of no use to the next
            weights = self.work.p.trainable()
            optimizer = kind(weights, float(rate))
            self.optimizers[kind] = weights, optimizer, self.work.compile_(optimizer.step)
        weights, optimizer, step = self.optimizers[kind]

        def work(count: int) -> float:
            for _ in range(count):
                optimizer.zero_grad()
                value = self.work.loss(weights, self.work.p.X, self.work.p.target)
                value.backward()
                step()
            return value.item()

        if first and self.work.compiled:  # before the clock runs
            work(2)
        with torch.no_grad():
            torch._foreach_copy_(weights, self.work.p.weights)
        for state in optimizer.state.values():
            for tensor in state.values():
                tensor.zero_()
        return timed(lambda: work(int(steps)))

    def epoch(self, validation: str, batch: str, rate: str):
        X, target = self.work.whole.X, self.work.whole.target
        training, size = len(X) - int(validation), int(batch)

        def work() -> float:
            weights = self.work.whole.trainable()
            order = torch.randperm(training, generator=torch.Generator().manual_seed(1))
            for part in order.split(size):
                self.work.sgd_step(weights, X[part], target[part], float(rate))
            with torch.no_grad():
                parts = zip(X[training:].split(1000), target[training:].split(1000), strict=True)
                return sum(loss(weights, x, y).item() * len(x) for x, y in parts)

        seconds, whole_loss = timed(work, time.perf_counter)
        return seconds, whole_loss / int(validation), peak_kilobytes()

    def commands(self) -> dict[str, Callable[..., Any]]:
        return {
            "sgd": self.sgd,
            "adagrad": lambda *words: self.optimizer(torch.optim.Adagrad, *words),
            "adam": lambda *words: self.optimizer(torch.optim.Adam, *words),
            "epoch": self.epoch,
        }
