# SPDX-License-Identifier: MIT
"""Random small models: layers, activations, norms, residual and concatenated streams, heads."""

from __future__ import annotations

import random
from functools import partial

import torch
import torch.nn.functional as F
from models import ACTIVATIONS, RMSNorm, rope_half, rope_interleaved
from torch import Tensor, nn


class Residual(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return x + self.inner(x)


class Concatenation(nn.Module):
    def __init__(self, left: nn.Module, right: nn.Module) -> None:
        super().__init__()
        self.left, self.right = left, right

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.left(x), self.right(x)], -1)


class Gated(nn.Module):
    def __init__(self, width: int, hidden: int, activation: str, bias: bool) -> None:
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias)
        self.up = nn.Linear(width, hidden, bias)
        self.down = nn.Linear(hidden, width, bias)
        self.activation = ACTIVATIONS[activation]()

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.activation(self.gate(x)) * self.up(x))


class Attention(nn.Module):
    """Heads, fused projection, key-value heads, rotary embedding, norms: at random."""

    def __init__(self, width: int, options: random.Random) -> None:
        super().__init__()
        self.heads = options.choice([1, 2])
        self.kv_heads = options.choice([1, self.heads])
        self.size = width // self.heads
        self.fused = self.kv_heads == self.heads and options.random() < 0.5
        bias = options.random() < 0.5
        if self.fused:
            self.qkv = nn.Linear(width, 3 * width, bias)
        else:
            self.q = nn.Linear(width, width, bias)
            self.k = nn.Linear(width, self.kv_heads * self.size, bias)
            self.v = nn.Linear(width, self.kv_heads * self.size, bias)
        self.o = nn.Linear(width, width, bias)
        self.rope = options.choice([None, None, rope_half, rope_interleaved])
        self.norm = RMSNorm(self.size) if options.random() < 0.2 else None
        self.gate = nn.Linear(width, width) if options.random() < 0.2 else None
        self.dropout = options.choice([0.0, 0.0, 0.3])

    def forward(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        q, k, v = self.qkv(x).chunk(3, -1) if self.fused else (self.q(x), self.k(x), self.v(x))
        q, k, v = (u.view(b, t, -1, self.size).transpose(1, 2) for u in (q, k, v))
        if self.norm is not None:
            q, k = self.norm(q), self.norm(k)
        if self.rope is not None:
            q, k = self.rope(q), self.rope(k)
        repeat = self.heads // self.kv_heads
        k, v = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout * self.training)
        y = y.transpose(1, 2).reshape(b, t, d)
        if self.gate is not None:
            y = y * torch.sigmoid(self.gate(x))
        return self.o(y)


class Adapter(nn.Module):
    def __init__(self, width: int, rank: int, merged: bool) -> None:
        super().__init__()
        self.base = nn.Linear(width, width).requires_grad_(merged)
        self.a = nn.Parameter(torch.randn(rank, width))
        self.b = nn.Parameter(torch.randn(width, rank))
        self.merged = merged

    def forward(self, x: Tensor) -> Tensor:
        if self.merged:
            return F.linear(x, self.base.weight + self.b @ self.a, self.base.bias)
        return self.base(x) + x @ self.a.T @ self.b.T


class Odd(nn.Module):
    """Operations that no rule expects: parts of the width treated differently."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def forward(self, x: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        if self.kind == "split":
            return torch.cat([F.relu(x[..., :half]), torch.tanh(x[..., half:])], -1)
        if self.kind == "roll":
            return x.roll(1, -1)
        if self.kind == "flip":
            return x.flip(-1) + x
        if self.kind == "in_place":
            y = x.clone()
            y[..., :half] *= 2.0
            return y.relu_()
        if self.kind == "cumsum":
            return x.cumsum(-1)
        if self.kind == "max":
            return torch.maximum(x, x.roll(1, -1))
        if self.kind == "where":
            return torch.where(x > 0, x, 0.1 * x)
        if self.kind == "clamp":
            return x.clamp(-2.0, 2.0)
        if self.kind == "soft":
            return x * torch.sigmoid(x.mean(-1, keepdim=True))
        if self.kind == "normalize":
            return F.normalize(x, dim=-1)
        if self.kind == "constant":
            return x + 1.0
        return x * x


ODD = "split roll flip in_place cumsum max where clamp soft normalize constant square".split()
SPATIAL = ["relu", "leaky_relu", "prelu", "relu6", "gelu", "tanh", "identity", "hardswish"]


def random_sequence_model(seed: int) -> tuple[nn.Module, Tensor]:
    """Tokens of one width through random layers."""
    options = random.Random(seed)
    width = options.choice([4, 6, 8])
    layers: list[nn.Module] = []
    current = width
    for _ in range(options.randint(1, 5)):
        kind = options.choice(
            "linear linear activation activation norm residual gated attention adapter odd concat"
            " dropout".split()
        )
        bias = options.random() < 0.7
        if kind == "linear":
            new = options.choice([1, 3, 4, 6, 8])
            layers.append(nn.Linear(current, new, bias))
            current = new
        elif kind == "activation":
            layers.append(ACTIVATIONS[options.choice(list(ACTIVATIONS))]())
        elif kind == "norm":
            norm = options.choice([nn.LayerNorm, RMSNorm, partial(RMSNorm, gain=False), nn.RMSNorm])
            layers.append(norm(current))
        elif kind == "residual":
            hidden = options.choice([2, 5])
            name = options.choice(list(ACTIVATIONS))
            inner: list[nn.Module] = [nn.Linear(current, hidden, bias), ACTIVATIONS[name]()]
            if options.random() < 0.4:
                inner.insert(0, nn.LayerNorm(current))
            layers.append(Residual(nn.Sequential(*inner, nn.Linear(hidden, current, bias))))
        elif kind == "gated":
            layers.append(Gated(current, 5, options.choice(list(ACTIVATIONS)), bias))
        elif kind == "attention" and current % 4 == 0:
            layers.append(Attention(current, options))
        elif kind == "adapter":
            layers.append(Adapter(current, 2, options.random() < 0.5))
        elif kind == "odd" and current > 1:
            layers.append(Odd(options.choice(ODD)))
        elif kind == "concat":
            layers.append(Concatenation(nn.Linear(current, 2, bias), nn.Linear(current, 3, bias)))
            current = 5
        elif kind == "dropout":
            layers.append(nn.Dropout(0.3))
    if len(layers) > 1 and options.random() < 0.15:
        layers.insert(0, layers[0])
        if not isinstance(layers[0], (nn.ReLU, nn.LayerNorm)):
            layers.pop(0)
    layers.append(nn.Linear(current, 3))
    return nn.Sequential(*layers), torch.randn(2, 5, width)


def random_image_model(seed: int) -> tuple[nn.Module, Tensor]:
    """Convolutions, pooling, batch and group norm, flatten, linear layers."""
    options = random.Random(seed)
    channels, image = 2, 6
    layers: list[nn.Module] = []
    for _ in range(options.randint(1, 4)):
        new = options.choice([2, 4])
        groups = options.choice([1, 1, 2])
        layers.append(nn.Conv2d(channels, new, 3, padding=1, groups=groups))
        channels = new
        norm = options.choice(["none", "batch", "group", "instance"])
        if norm == "batch":
            layers.append(nn.BatchNorm2d(channels))
        elif norm == "group":
            layers.append(nn.GroupNorm(2, channels))
        elif norm == "instance":
            layers.append(nn.InstanceNorm2d(channels, affine=True))
        layers.append(ACTIVATIONS[options.choice(SPATIAL)]())
        if options.random() < 0.3:
            inner = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU())
            layers.append(Residual(inner))
    layers.append(options.choice([nn.MaxPool2d(2), nn.AvgPool2d(2), nn.Identity()]))
    side = image if isinstance(layers[-1], nn.Identity) else image // 2
    layers += [nn.Flatten(), nn.Linear(channels * side * side, 4), nn.ReLU(), nn.Linear(4, 2)]
    model = nn.Sequential(*layers)
    model.train(options.random() < 0.5)
    return model, torch.randn(3, 2, image, image)


def random_model(seed: int) -> tuple[nn.Module, Tensor]:
    """The model and its input; a third of them are convolutional."""
    torch.manual_seed(seed)
    model, x = (random_image_model if seed % 3 == 0 else random_sequence_model)(seed)
    if seed % 5 == 0:
        model.eval()
    if seed % 7 == 0:
        parameters = list(model.parameters())
        parameters[seed % len(parameters)].requires_grad_(False)
        if not any(p.requires_grad for p in parameters):
            parameters[0].requires_grad_(True)
    return model, x
