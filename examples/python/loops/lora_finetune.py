# SPDX-License-Identifier: MIT
"""Fine-tuning a network with LoRA, and one line of Symport and its import (marked >>>).

A frozen network gets LoRA adapters and is tuned on another task, in mini-batches, with a linear
schedule. Only the product of a pair matters: each factor steps in the gauge where the other one is
white. Without the marked lines this is the plain script.

    python examples/python/loops/lora_finetune.py            # 3 s
    python examples/python/loops/lora_finetune.py --lr 2
"""

from __future__ import annotations

import argparse
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset

import symport.torch as st  # >>>


class LoraLinear(nn.Module):
    def __init__(self, base_layer: nn.Linear, r: int, lora_alpha: int):
        super().__init__()
        self.base_layer = base_layer
        self.lora_A = nn.Linear(base_layer.in_features, r, bias=False)
        self.lora_B = nn.Linear(r, base_layer.out_features, bias=False)
        self.scaling = lora_alpha / r
        nn.init.kaiming_uniform_(self.lora_A.weight, a=math.sqrt(5))
        nn.init.zeros_(self.lora_B.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.base_layer(x) + self.scaling * self.lora_B(self.lora_A(x))


def pretrained_model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64))


def new_task(samples: int, seed: int) -> TensorDataset:
    """What the model would say if its first layer were changed by a matrix of rank 4 and condition
    100."""
    model, generator = pretrained_model(), torch.Generator().manual_seed(0)
    u, v = (torch.linalg.qr(torch.randn(64, 4, generator=generator))[0] for _ in range(2))
    x = torch.randn(samples, 64, generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        model[0].weight += 2 * (u * torch.logspace(0, -2, 4)) @ v.T
        return TensorDataset(x, model(x))


def main(arguments: list[str] | None = None) -> list[float]:
    """The evaluation losses, before the first epoch and after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--num-epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(arguments)

    model = pretrained_model().requires_grad_(False)
    torch.manual_seed(args.seed)
    for name, module in list(model.named_children()):
        if isinstance(module, nn.Linear):
            setattr(model, name, LoraLinear(module, r=4, lora_alpha=8))
    train_dataloader = DataLoader(new_task(2048, 2), 64, shuffle=True)
    eval_x, eval_y = new_task(1024, 3).tensors

    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trainable, lr=args.lr, momentum=0.9)
    optimizer = st.RoundTrip(model, optimizer, length="metric")  # >>>
    steps = args.num_epochs * len(train_dataloader)
    scheduler = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 20) * (1 - step / steps))
    curve = []
    for _ in range(args.num_epochs + 1):
        model.eval()
        with torch.no_grad():
            curve.append(F.mse_loss(model(eval_x), eval_y).item())
        print(f"eval loss {curve[-1]:.3e}")
        if len(curve) > args.num_epochs:
            break
        model.train()
        for x, y in train_dataloader:
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    return curve


if __name__ == "__main__":
    main()
