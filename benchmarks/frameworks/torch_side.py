# SPDX-License-Identifier: MIT
"""The benchmarks' work in PyTorch: torch_side.py eager|compile THREADS. See protocol.py."""

from __future__ import annotations

import sys

import torch
from protocol import serve
from torch_network import Work
from torch_preconditioned import Preconditioned
from torch_rosenbrock import RosenbrockRuns
from torch_round_trips import RoundTrips
from torch_teleports import Teleports
from torch_training import Training

if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    work = Work(sys.argv[1] == "compile")
    commands = work.commands()
    for kind in (Training, Preconditioned, Teleports, RoundTrips, RosenbrockRuns):
        commands |= kind(work).commands()
    serve(commands)
