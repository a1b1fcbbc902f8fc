# SPDX-License-Identifier: MIT
"""A small GPT with the loop of nanoGPT, and three lines of Symport (marked >>>).

AdamW feels the gauge in which a model is written: the same function with V four times larger and O
four times smaller, and the like for Q and K, trains to another loss. With teleports to the balanced
gauge the initial gauge no longer matters. Do not expect a lower loss than that of a tuned AdamW
from them; round trips (one line) reach one.

    python examples/python/gpt.py            # about 10 s
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import symport.torch as st

TEXT = (
    "the group acts on the weights and the loss does not move. "
    "the optimizer sees another gradient and takes another step. "
    "where the steps agree there is nothing to gain and nothing to lose. "
) * 40


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        split = (b, t, self.heads, d // self.heads)
        q, k, v = (z.view(split).transpose(1, 2) for z in self.attention(self.ln_1(x)).split(d, -1))
        scores = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
        mask = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        y = scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v
        x = x + self.project(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.ln_2(x))))


class GPT(nn.Module):
    def __init__(self, symbols: int, width: int = 32, heads: int = 4, length: int = 32) -> None:
        super().__init__()
        self.embed = nn.Embedding(symbols, width)
        self.position = nn.Parameter(0.02 * torch.randn(length, width))
        self.blocks = nn.Sequential(Block(width, heads), Block(width, heads))
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, symbols, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens) + self.position[: tokens.shape[1]]
        return self.head(self.ln_f(self.blocks(x)))


def main(
    steps: int = 60, gauge: float = 1.0, method: str = "teleport", rate: float = 3e-3
) -> float:
    """Trains, with V and Q times `gauge`, O and K divided by it; returns the last loss.

    method: "plain", "teleport" or "round-trip".
    """
    symbols = sorted(set(TEXT))
    tokens = torch.tensor([symbols.index(c) for c in TEXT])
    torch.manual_seed(0)
    model = GPT(len(symbols))
    with torch.no_grad():
        for block in model.blocks:
            q, k, v = block.attention.weight.chunk(3)
            for part, factor in ((q, gauge), (k, 1 / gauge), (v, gauge)):
                part.mul_(factor)
            for part, factor in zip(
                block.attention.bias.chunk(3), (gauge, 1 / gauge, gauge), strict=True
            ):
                part.mul_(factor)
            block.project.weight.div_(gauge)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    if method == "teleport":
        symmetries = st.find_symmetries(model, tokens[None, :16], optimizer=optimizer)  # >>>
        teleporter = st.Teleporter(symmetries, optimizer, lambda step: step % 20 == 0)  # >>>
    if method == "round-trip":
        optimizer = st.RoundTrip(model, optimizer)  # >>>
    generator = torch.Generator().manual_seed(1)
    recent = []
    for _ in range(steps):
        starts = torch.randint(len(tokens) - 33, (16,), generator=generator)
        batch = torch.stack([tokens[s : s + 33] for s in starts])
        logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if method == "teleport":
            teleporter.step()  # >>>
        optimizer.step()
        recent.append(loss.item())
    return sum(recent[-10:]) / 10


if __name__ == "__main__":
    for method, name in (("plain", "AdamW alone"), ("teleport", "balanced every 20 steps")):
        losses = [main(gauge=g, method=method) for g in (1.0, 4.0)]
        print(f"{name:24s} usual gauge {losses[0]:.4f}, V and Q x 4, O and K / 4: {losses[1]:.4f}")
    for method, name in (("plain", "AdamW"), ("round-trip", "AdamW with round trips")):
        best = min((main(method=method, rate=r), r) for r in (5e-3, 1e-2, 2e-2, 5e-2))
        print(f"{name:24s} at the best of four rates, {best[1]}: {best[0]:.4f}")
