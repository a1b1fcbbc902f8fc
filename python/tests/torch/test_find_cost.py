# SPDX-License-Identifier: MIT
"""Cost of the search: seconds of processor time, so that a busy machine does not matter, and the
peak of the memory in a process of its own.

    python python/tests/torch/test_find_cost.py tied like

prints that of GPT-2 small; `tied` and `like` (carried over from a small configuration) as wanted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
import torch
from models import GPT, llama_10m, resnet18

from symport.torch import find_symmetries


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "mode", "dimension"),
    [(resnet18, "train", 2880), (resnet18, "eval", 12480), (llama_10m, "train", 64768)],
    ids=["resnet18-train", "resnet18-eval", "llama"],
)
def test_models_of_ten_million_weights_take_less_than_a_minute(make, mode, dimension):
    torch.manual_seed(0)
    model = make().train(mode == "train")
    assert 9e6 < sum(p.numel() for p in model.parameters()) < 12e6
    start = time.process_time()
    symmetries = find_symmetries(model, model.example(2))
    assert time.process_time() - start < 60
    assert symmetries.dimension == dimension
    assert symmetries.drift < 1e-10


def memory(line: str) -> int:
    """Bytes by a line of Linux's status of this process."""
    with open("/proc/self/status") as status:
        return next(int(text.split()[1]) * 1024 for text in status if text.startswith(line))


def gpt2_small(tied: bool, like: bool) -> dict[str, float]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = GPT(768, 12, 12, 50257, 1024, tied=tied)
    small = GPT(48, 4, 2, 64, 16, tied=tied)
    tokens = torch.randint(64, (2, 8))
    first = find_symmetries(small, tokens)
    before, start = memory("VmRSS"), time.process_time()
    symmetries = find_symmetries(model, tokens, like=first if like else None)
    seconds = time.process_time() - start
    count = sum(p.numel() for p in model.parameters())
    return {
        "parameters": count,
        "seconds": round(seconds, 1),
        "bytes per parameter": round((memory("VmHWM") - before) / count, 1),
        "groups": len(symmetries.groups),
        "dimension": symmetries.dimension,
        "drift": symmetries.drift,
    }


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("how", [[], ["tied"], ["like"], ["tied", "like"]])
def test_gpt2_small_takes_twenty_seconds_and_25_bytes_a_parameter(how):
    found = subprocess.run(
        [sys.executable, __file__, *how],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    cost = json.loads(found.stdout)
    tied = "tied" in how
    assert cost["parameters"] == (124_439_808 if tied else 163_037_184)
    assert cost["dimension"] == (1_198_080 if tied else 1_198_848)
    assert cost["drift"] < 1e-10
    assert cost["seconds"] < 20
    assert cost["bytes per parameter"] < 25


if __name__ == "__main__":
    print(json.dumps(gpt2_small("tied" in sys.argv, "like" in sys.argv)))
