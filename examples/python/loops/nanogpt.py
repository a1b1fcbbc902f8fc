# SPDX-License-Identifier: MIT
"""A GPT with a training loop in the manner of nanoGPT, and one line of Symport and its import
(marked >>>).

Gradient accumulation, clipping, weight decay on matrices only, warm-up and cosine, an estimate of
the loss every so often. Without the marked lines this is the plain script.

    python examples/python/loops/nanogpt.py                  # 3 s
    python examples/python/loops/nanogpt.py --learning-rate 5e-3
"""

from __future__ import annotations

import argparse
import math
import sysconfig
from pathlib import Path

import torch
import torch.nn as nn
from torch.nn import functional as F

import symport.torch as st  # >>>


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd: int, n_head: int):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.n_head, self.n_embd = n_head, n_embd

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q, k, v = (z.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    def __init__(self, n_embd: int, n_head: int):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.attn = CausalSelfAttention(n_embd, n_head)
        self.c_fc = nn.Linear(n_embd, 4 * n_embd, bias=False)
        self.c_proj = nn.Linear(4 * n_embd, n_embd, bias=False)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x))))


class GPT(nn.Module):
    def __init__(self, vocab_size: int, block_size: int, n_layer: int, n_head: int, n_embd: int):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab_size, n_embd), nn.Embedding(block_size, n_embd)
        self.h = nn.ModuleList(Block(n_embd, n_head) for _ in range(n_layer))
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                std = 0.02 / math.sqrt(2 * n_layer) if name.endswith("c_proj.weight") else 0.02
                nn.init.normal_(p, std=std)

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1), device=idx.device))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))

    def configure_optimizers(self, weight_decay, learning_rate):
        decay = [p for p in self.parameters() if p.dim() >= 2]
        rest = [p for p in self.parameters() if p.dim() < 2]
        groups = [
            {"params": decay, "weight_decay": weight_decay},
            {"params": rest, "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, 0.99))


def main(arguments: list[str] | None = None) -> list[float]:
    """The estimates of the validation loss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learning-rate", type=float, default=2e-2)
    parser.add_argument("--max-iters", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1337)
    args = parser.parse_args(arguments)
    batch_size, block_size, gradient_accumulation_steps = 6, 32, 2
    warmup_iters, eval_interval, grad_clip, min_lr = 15, 50, 1.0, args.learning_rate / 10
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"

    text = (Path(sysconfig.get_paths()["stdlib"]) / "argparse.py").read_text(encoding="utf-8")
    stoi = {c: i for i, c in enumerate(sorted(set(text)))}
    data = torch.tensor([stoi[c] for c in text])
    split = {"train": data[: len(data) * 9 // 10], "val": data[len(data) * 9 // 10 :]}

    def get_batch(part, generator=None):
        source = split[part]
        ix = torch.randint(len(source) - block_size, (batch_size,), generator=generator)
        x = torch.stack([source[i : i + block_size] for i in ix])
        y = torch.stack([source[i + 1 : i + 1 + block_size] for i in ix])
        return x.to(device), y.to(device)

    model = GPT(len(stoi), block_size, n_layer=2, n_head=4, n_embd=48).to(device)
    optimizer = model.configure_optimizers(1e-2, args.learning_rate)

    @torch.no_grad()
    def estimate_loss():
        model.eval()
        generator = torch.Generator().manual_seed(1)
        losses = [model(*get_batch("val", generator))[1].item() for _ in range(40)]
        model.train()
        return sum(losses) / len(losses)

    def get_lr(it):
        if it < warmup_iters:
            return args.learning_rate * (it + 1) / (warmup_iters + 1)
        ratio = (it - warmup_iters) / (args.max_iters - warmup_iters)
        return min_lr + 0.5 * (1 + math.cos(math.pi * ratio)) * (args.learning_rate - min_lr)

    optimizer = st.RoundTrip(model, optimizer)  # >>>
    curve = []
    for iter_num in range(args.max_iters + 1):
        for group in optimizer.param_groups:
            group["lr"] = get_lr(iter_num)
        if iter_num % eval_interval == 0:
            curve.append(estimate_loss())
            print(f"step {iter_num}: val loss {curve[-1]:.4f}")
        for _ in range(gradient_accumulation_steps):
            _, loss = model(*get_batch("train"))
            (loss / gradient_accumulation_steps).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return curve


if __name__ == "__main__":
    main()
