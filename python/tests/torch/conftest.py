# SPDX-License-Identifier: MIT
"""Paths and markers of the tests of symport.torch."""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
torch.set_num_threads(1)


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: minutes; run with -m slow")
