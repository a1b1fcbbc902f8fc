# SPDX-License-Identifier: MIT
"""A small GPT (2 layers, width 64, 4 heads, context 64) on the characters of Python's own library:
300 steps of 16 sequences, warm-up over 30 steps, then a cosine to zero."""

import functools
import math
import sys
import sysconfig
from pathlib import Path

import harness
import torch
from torch import nn
from torch.nn import functional as F

EPOCHS = 3  # of 100 steps
STEPS_PER_EPOCH, CONTEXT, HEADS = 100, 64, 4


@functools.cache
def text(files: str) -> tuple[torch.Tensor, int]:
    """The first 1.5 million characters of the library's modules in the order of their names."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    whole = "".join(
        path.read_text(encoding="utf-8", errors="ignore") for path in sorted(folder.glob(files))
    )[:1_500_000]
    letters = sorted(set(whole))
    index = {letter: i for i, letter in enumerate(letters)}
    return torch.tensor([index[letter] for letter in whole]), len(letters)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, letters, width=64, layers=2):
        super().__init__()
        self.letters, self.places = nn.Embedding(letters, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                scale = 0.5 if name.endswith(("out.weight", "down.weight")) else 1
                nn.init.normal_(parameter, std=0.02 * scale)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.norm(self.blocks(self.letters(tokens) + self.places(places))))


class Task:
    """Settings are chosen by the first half of the held-out text, and judged by the second."""

    def __init__(self, seed, arguments, files="*.py"):
        tokens, letters = text(files)
        self.train, held_out = tokens[:-150_000], tokens[-150_000:]
        self.held_out = held_out[:75_000] if arguments.tuning else held_out[75_000:]
        self.model = Gpt(letters, arguments.width, arguments.layers)
        self.seed, self.sequences = seed, arguments.sequences
        self.steps = arguments.epochs * STEPS_PER_EPOCH

    def draw(self, tokens, generator, count):
        starts = torch.randint(0, len(tokens) - CONTEXT - 1, (count,), generator=generator)
        return torch.stack([tokens[s : s + CONTEXT + 1] for s in starts.tolist()])

    def batches(self, epoch):
        generator = torch.Generator().manual_seed(1000 * self.seed + epoch)
        for _ in range(STEPS_PER_EPOCH):
            yield self.draw(self.train, generator, self.sequences)

    def loss(self, batch):
        outputs = self.model(batch[:, :-1])
        return F.cross_entropy(outputs.flatten(0, 1), batch[:, 1:].flatten())

    def schedule(self, step):
        if step < 30:
            return (step + 1) / 30
        done = (step - 30) / max(1, self.steps - 30)
        return 0.5 * (1 + math.cos(math.pi * done))

    def evaluate(self):
        generator = torch.Generator().manual_seed(7)
        train = self.loss(self.draw(self.train, generator, 256)).item()
        held_out = self.draw(self.held_out, generator, 512)
        right = (self.model(held_out[:, :-1]).argmax(-1) == held_out[:, 1:]).float().mean().item()
        return train, self.loss(held_out).item(), right


def add_arguments(parser):
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--sequences", type=int, default=16, help="of 64 characters, in a step")


def start(seed, arguments):
    return Task(seed, arguments)


if __name__ == "__main__":
    harness.main(sys.modules[__name__], add_arguments)
