# SPDX-License-Identifier: MIT
"""Time of the search, in seconds of processor time, so that a busy machine does not matter."""

import time

import pytest
import torch
from models import llama_10m, resnet18

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
