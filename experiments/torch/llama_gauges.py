# SPDX-License-Identifier: MIT
"""Does AdamW gain from moved gauges? A small Llama, and LoRA on it.

Llama: 2 layers, width 64, 4 heads on 2 pairs of keys and values, RoPE, SwiGLU, on the characters of
Python's own library: 300 steps of 16 sequences of 64, warm-up and cosine, no weight decay. LoRA:
rank 8 on all linear layers of the blocks of a Llama that was trained for 400 steps on the library,
200 steps on the text of `help()`. Each from the usual initial gauge, and from the same function
after a random element of its symmetries ("scrambled"): AdamW alone, balanced once before the first
step, a Teleporter that balances every 20 steps, and AdamW in the gauge (RoundTrip).

Rates are chosen on seed 0 for each method and gauge, and judged on three others.
"""

from __future__ import annotations

import argparse
import copy
import csv
import datetime
import functools
import shlex
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

import gpt
import harness
import torch
from methods import climb
from torch import Tensor, nn
from torch.nn import functional as F

import symport.torch as st
from symport.torch.round_trip import RoundTrip

WIDTH, HEADS, PAIRS, HIDDEN, CONTEXT, SEQUENCES = 64, 4, 2, 128, 64, 16
STEPS = {"llama": 300, "lora": 200}
EVERY, SCRAMBLE = 20, 0.5
RATES = {"llama": 5e-3, "lora": 1e-2}  # where the search for the best rate begins
METHODS = ("adamw", "balanced once", "teleporter", "adamw in the gauge")
GAUGES = ("usual", "scrambled")


def rotated(x: Tensor) -> Tensor:
    """RoPE on (sequences, heads, tokens, 16), pairs (i, i + 8)."""
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[-2])[:, None] * 100.0 ** (-torch.arange(half) / half)
    cos, sin = angle.cos().to(x), angle.sin().to(x)
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        head = WIDTH // HEADS
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.q, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.k, self.v = (nn.Linear(WIDTH, PAIRS * head, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(WIDTH, HIDDEN, bias=False) for _ in range(2))
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        n, t, _ = x.shape
        h = self.norm1(x)
        q, k, v = (f(h).view(n, t, -1, WIDTH // HEADS).transpose(1, 2) for f in self.qkv())
        k, v = (z.repeat_interleave(HEADS // PAIRS, 1) for z in (rotated(k), v))
        y = F.scaled_dot_product_attention(rotated(q), k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(n, t, WIDTH))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))

    def qkv(self) -> tuple[nn.Module, ...]:
        return self.q, self.k, self.v


class Llama(nn.Module):
    def __init__(self, letters: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(letters, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.norm, self.head = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, letters, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                scale = 0.5 if name.endswith(("o.weight", "down.weight")) else 1
                nn.init.normal_(parameter, std=0.02 * scale)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.norm(self.blocks(self.letters(tokens))))


class LoRA(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 8) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_A = nn.Linear(base.in_features, rank, bias=False)
        self.lora_B = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.lora_B.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + 2 * self.lora_B(self.lora_A(x))


@functools.cache
def texts() -> tuple[Tensor, Tensor, int]:
    """The library, the text of help(), and how many letters they have."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    library = "".join(
        path.read_text(encoding="utf-8", errors="ignore") for path in sorted(folder.glob("*.py"))
    )[:1_500_000]
    manual = (folder / "pydoc_data" / "topics.py").read_text(encoding="utf-8", errors="ignore")
    index = {letter: i for i, letter in enumerate(sorted(set(library + manual)))}
    library, manual = (torch.tensor([index[c] for c in text]) for text in (library, manual))
    return library, manual, len(index)


def draw(tokens: Tensor, generator: torch.Generator, count: int) -> Tensor:
    starts = torch.randint(0, len(tokens) - CONTEXT - 1, (count,), generator=generator)
    return torch.stack([tokens[s : s + CONTEXT + 1] for s in starts.tolist()])


def loss_of(model: nn.Module, batch: Tensor) -> Tensor:
    return F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())


@functools.cache
def pretrained() -> nn.Module:
    torch.manual_seed(100)
    library, _, letters = texts()
    model = Llama(letters)
    train(model, library[:-150_000], torch.optim.AdamW(model.parameters(), 5e-3), 100, 400)
    return model


def start(task: str, seed: int, gauge: str) -> tuple[nn.Module, Tensor]:
    """The model before its first step, and its text."""
    base = pretrained() if task == "lora" else None
    torch.manual_seed(seed)
    library, manual, letters = texts()
    if base is None:
        model, text = Llama(letters), library
    else:
        model, text = copy.deepcopy(base).requires_grad_(False), manual
        for block in model.blocks:
            for name, layer in list(block.named_children()):
                if isinstance(layer, nn.Linear):
                    setattr(block, name, LoRA(layer))
    if gauge == "scrambled":
        found = st.find_symmetries(model, text[None, :CONTEXT])
        found.act(found.random_element(seed, SCRAMBLE))
    return model, text


def train(
    model: nn.Module,
    text: Tensor,
    optimizer: torch.optim.Optimizer,
    seed: int,
    steps: int,
    between: Any = None,
) -> None:
    rate = optimizer.param_groups[0]["lr"]
    generator = torch.Generator().manual_seed(1000 * seed)
    schedule = gpt.Task.schedule
    holder = argparse.Namespace(steps=steps)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * schedule(holder, step)
        optimizer.zero_grad()
        loss_of(model, draw(text, generator, SEQUENCES)).backward()
        if between is not None:
            between.step()
        optimizer.step()


def run(task: str, gauge: str, method: str, rate: float, seed: int) -> dict[str, Any]:
    model, text = start(task, seed, gauge)
    learned, held_out = text[:-100_000], text[-100_000:]
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, rate, weight_decay=0.0)
    between: Any = None
    before = time.process_time()
    if method in ("balanced once", "teleporter"):
        symmetries = st.find_symmetries(model, text[None, :CONTEXT], optimizer=optimizer)
        if method == "teleporter":
            between = st.Teleporter(symmetries, optimizer, f"every:{EVERY}")
        else:
            st.balance(model, symmetries=symmetries, optimizer=optimizer)
    elif method == "adamw in the gauge":
        optimizer = RoundTrip(model, optimizer)
    search = time.process_time()
    train(model, learned, optimizer, seed, STEPS[task], between)
    seconds = time.process_time() - search
    with torch.no_grad():
        batch = draw(held_out, torch.Generator().manual_seed(7), 512)
        validation = loss_of(model, batch).item()
        batch = draw(learned, torch.Generator().manual_seed(8), 256)
        training = loss_of(model, batch).item()
    jumps = getattr(between, "certificates", [])
    return dict(
        task=task,
        gauge=gauge,
        method=method,
        rate=rate,
        seed=seed,
        search_seconds=round(search - before, 2),
        cpu_seconds=round(seconds, 2),
        train=f"{training:.6g}",
        validation=f"{validation:.6g}",
        accepted=sum(c.accepted for c in jumps),
        jumps=len(jumps),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="CSV file to write")
    parser.add_argument("--tasks", nargs="+", default=list(RATES), choices=list(RATES))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--seeds", nargs="*", type=int, default=list((1, 2, 3)))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with arguments.out.open("w", newline="") as file:
        print(f"# python {shlex.join(sys.argv)}", file=file)
        print(f"# {datetime.date.today()}, {harness.describe_machine()}", file=file)
        table = None

        def measured(part: str, *what: Any) -> float:
            nonlocal table
            row = {"part": part, **run(*what)}
            if table is None:
                table = csv.DictWriter(file, list(row), lineterminator="\n")
                table.writeheader()
            table.writerow(row)
            file.flush()
            print(*row.values(), flush=True)
            return float(row["validation"])

        for task in arguments.tasks:
            for gauge in GAUGES:
                for method in arguments.methods:
                    case = (task, gauge, method)
                    rate = climb(
                        {"rate": RATES[task]},
                        lambda s, case=case: measured("tuning", *case, s["rate"], 0),
                        20,
                    )["rate"]
                    for seed in arguments.seeds:
                        measured("judging", task, gauge, method, rate, seed)


if __name__ == "__main__":
    main()
