# SPDX-License-Identifier: MIT
"""What the programs of this folder have in common: one command per line on stdin, one line of
numbers as the answer, seconds first, then numbers by which Symport's side checks that the work was
the same.

    problem DIR float|double classes|numbers SAMPLES WIDTH...   0, loss
    set DIR float classes SAMPLES WIDTH...    0, 0: the data of the epochs
    sgd STEPS RATE                            seconds, loss before the last step
    adagrad STEPS RATE, adam STEPS RATE       the same
    kfac STEPS RATE REFRESH FISHER            the same for a run that goes on; sampled or empirical
    shampoo STEPS RATE REFRESH                the same
    scalable STEPS RATE REFRESH               the same by pytorch_optimizer's ScalableShampoo
    muon STEPS RATE                           the same, in float; JAX's begin anew
    torch_muon STEPS RATE                     the same by torch.optim.Muon
    ascend STEPS RATE LENGTH                  seconds of the steps alone, objective at the start
    gradient RATE FILE                        0, objective; its gradient in T_1, T_2 ... to FILE
    teleport STEPS RATE LENGTH                seconds with set-up, loss before and after
    rescale KAPPA                             seconds, loss before and after, J and Phi after
    roundtrip STEPS THETA DAMPING             seconds, loss before the last step
    descend EPOCHS EVERY STEPS RATE LENGTH    seconds, last loss: GD with teleports on J
    epoch VALIDATION BATCH RATE               seconds (wall clock), validation loss, memory in kB
    rosenbrock RUNS                           seconds, last loss

J = |dL/dw|^2, Phi = (dL/dw)' H (dL/dw); the objective of a teleport is J (RATE = 0) or
RATE J - RATE^2/2 Phi. A command that the framework cannot do is answered by "failed: REASON".
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

SLOPE = 0.1  # of the leaky rectifier, below 0


class Arrays(NamedTuple):
    weights: list[np.ndarray]  # W_m, outputs x inputs
    X: np.ndarray  # samples x features
    target: np.ndarray  # classes (int64), or numbers (samples x outputs)


def read_problem(directory: str, precision: str, kind: str, samples: str, *widths: str) -> Arrays:
    """Reads DIR/W1, W2, ... (row after row), X and y or Y as they are in memory."""
    kinds = {"float": np.float32, "double": np.float64}
    dtype, n, d = kinds[precision], int(samples), [int(width) for width in widths]

    def read(name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        return np.fromfile(f"{directory}/{name}", dtype).reshape(shape)

    weights = [read(f"W{m}", (d[m], d[m - 1]), dtype) for m in range(1, len(d))]
    target = read("y", (n,), np.int64) if kind == "classes" else read("Y", (n, d[-1]), dtype)
    return Arrays(weights, read("X", (n, d[0]), dtype), target)


def peak_kilobytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> Any:
    """Seconds of the processor, of all threads, and the result. The result must be there."""
    began = clock()
    result = work()
    return clock() - began, result


def serve(commands: dict[str, Callable[..., Any]]) -> None:
    for line in sys.stdin:
        name, *words = line.split()
        if name not in commands:
            print("failed: it is not written for this framework", flush=True)
            continue
        try:
            answer = commands[name](*words)
        except NotImplementedError as error:  # on purpose
            print(f"failed: {error}", flush=True)
            continue
        except Exception as error:  # one line for the table; the traceback for whoever looks
            import traceback

            traceback.print_exc()
            said = str(error).strip().splitlines() or [""]
            print(f"failed: {type(error).__name__}: {said[0]}", flush=True)
            continue
        print(" ".join(f"{float(number):.17g}" for number in answer), flush=True)
