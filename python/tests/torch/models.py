# SPDX-License-Identifier: MIT
"""Small models of every architecture that the symmetry search must understand.

B samples, T tokens, D width, H heads. Every class takes plain numbers and makes its own example
input with `example(batch)`.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

ACTIVATIONS = {
    "relu": nn.ReLU,
    "leaky_relu": lambda: nn.LeakyReLU(0.1),
    "prelu": nn.PReLU,
    "relu6": nn.ReLU6,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "tanh": nn.Tanh,
    "elu": nn.ELU,
    "softplus": nn.Softplus,
    "hardswish": nn.Hardswish,
    "hardtanh": nn.Hardtanh,
    "sigmoid": nn.Sigmoid,
    "identity": nn.Identity,
}


class SquaredReLU(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x).square()


ACTIVATIONS["squared_relu"] = SquaredReLU


class MLP(nn.Sequential):
    """Linear layers with an activation between them: MLP(5, 8, 6, 3)."""

    def __init__(self, *widths: int, activation: str = "relu", bias: bool = True) -> None:
        layers: list[nn.Module] = []
        for number, (d_in, d_out) in enumerate(zip(widths, widths[1:], strict=False)):
            layers.append(nn.Linear(d_in, d_out, bias=bias))
            if number < len(widths) - 2:
                layers.append(ACTIVATIONS[activation]())
        super().__init__(*layers)
        self.d_in = widths[0]

    def example(self, batch: int = 4) -> Tensor:
        return torch.randn(batch, self.d_in)


class VGG(nn.Module):
    """Two convolutions with max and average pooling, flatten, two linear layers with dropout."""

    def __init__(self, width: int = 6, classes: int = 5, dropout: float = 0.0) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.AvgPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Linear(2 * width * 4, 10),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(10, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(torch.flatten(self.features(x), 1))

    def example(self, batch: int = 3) -> Tensor:
        return torch.randn(batch, 3, 8, 8)


class BasicBlock(nn.Module):
    def __init__(self, d_in: int, d_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(d_in, d_out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(d_out)
        self.conv2 = nn.Conv2d(d_out, d_out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(d_out)
        self.downsample = None
        if stride != 1 or d_in != d_out:
            self.downsample = nn.Sequential(
                nn.Conv2d(d_in, d_out, 1, stride, bias=False), nn.BatchNorm2d(d_out)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += x if self.downsample is None else self.downsample(x)
        return F.relu_(y)


class ResNet(nn.Module):
    """ResNet(64, (2, 2, 2, 2), 1000) is ResNet-18 without the first pooling."""

    def __init__(
        self, width: int = 4, blocks: tuple[int, ...] = (2, 1), classes: int = 5, image: int = 8
    ) -> None:
        super().__init__()
        self.image = image
        self.conv1 = nn.Conv2d(3, width, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        stages, d_in = [], width
        for stage, count in enumerate(blocks):
            d_out = width * 2**stage
            for block in range(count):
                stages.append(BasicBlock(d_in, d_out, 2 if stage and not block else 1))
                d_in = d_out
        self.layers = nn.Sequential(*stages)
        self.fc = nn.Linear(d_in, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.layers(F.relu(self.bn1(self.conv1(x))))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))

    def example(self, batch: int = 3) -> Tensor:
        return torch.randn(batch, 3, self.image, self.image)


class DenseNet(nn.Module):
    """Concatenated streams; group norm between convolutions."""

    def __init__(self, growth: int = 4, classes: int = 3) -> None:
        super().__init__()
        self.conv0 = nn.Conv2d(3, growth, 3, padding=1)
        self.conv1 = nn.Conv2d(growth, growth, 3, padding=1)
        self.norm = nn.GroupNorm(2, 2 * growth)
        self.conv2 = nn.Conv2d(2 * growth, growth, 1)
        self.fc = nn.Linear(3 * growth, classes)

    def forward(self, x: Tensor) -> Tensor:
        a = F.relu(self.conv0(x))
        b = F.relu(self.conv1(a))
        c = F.relu(self.conv2(F.relu(self.norm(torch.cat([a, b], 1)))))
        return self.fc(torch.cat([a, b, c], 1).mean((2, 3)))

    def example(self, batch: int = 2) -> Tensor:
        return torch.randn(batch, 3, 6, 6)


class GPTBlock(nn.Module):
    """Pre-norm block of GPT-2: LayerNorm, fused qkv, GELU."""

    def __init__(self, width: int, heads: int, bias: bool = True, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.ln_1 = nn.LayerNorm(width)
        self.c_attn = nn.Linear(width, 3 * width, bias=bias)
        self.c_proj = nn.Linear(width, width, bias=bias)
        self.ln_2 = nn.LayerNorm(width)
        self.c_fc = nn.Linear(width, 4 * width, bias=bias)
        self.c_out = nn.Linear(4 * width, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        q, k, v = self.c_attn(self.ln_1(x)).split(d, dim=2)
        q, k, v = (u.view(b, t, self.heads, d // self.heads).transpose(1, 2) for u in (q, k, v))
        p = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=p)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(b, t, d))
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x))))


class GPT(nn.Module):
    def __init__(
        self,
        width: int = 12,
        heads: int = 3,
        layers: int = 2,
        vocabulary: int = 11,
        context: int = 8,
        tied: bool = False,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.vocabulary, self.context = vocabulary, context
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(GPTBlock(width, heads, bias, dropout) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        if tied:
            self.head.weight = self.wte.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))

    def example(self, batch: int = 2) -> Tensor:
        return torch.randint(self.vocabulary, (batch, self.context))


class RMSNorm(nn.Module):
    """As written in Llama: x * rsqrt(mean(x^2) + eps) * gain."""

    def __init__(self, width: int, gain: bool = True, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width)) if gain else None
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return x if self.weight is None else x * self.weight


def rope_tables(length: int, head: int, like: Tensor) -> tuple[Tensor, Tensor]:
    frequency = 1.0 / 100.0 ** (torch.arange(0, head, 2, device=like.device) / head)
    angle = torch.arange(length, device=like.device)[:, None] * frequency[None]
    return angle.cos().to(like.dtype), angle.sin().to(like.dtype)


def rope_half(x: Tensor) -> Tensor:
    """Pairs (i, i + d/2), as in Hugging Face's Llama; x is (B, H, T, d)."""
    cos, sin = rope_tables(x.shape[-2], x.shape[-1], x)
    cos, sin = torch.cat([cos, cos], -1), torch.cat([sin, sin], -1)
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def rope_interleaved(x: Tensor) -> Tensor:
    """Pairs (2i, 2i + 1), as complex numbers, as in Meta's Llama."""
    cos, sin = rope_tables(x.shape[-2], x.shape[-1], x)
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(z * torch.complex(cos, sin)).flatten(-2)


ROPE = {"half": rope_half, "interleaved": rope_interleaved, "none": lambda x: x}


class LlamaBlock(nn.Module):
    """RMSNorm, RoPE, grouped-query attention, SwiGLU."""

    def __init__(
        self,
        width: int,
        heads: int,
        kv_heads: int,
        hidden: int,
        rope: str = "half",
        gain: bool = True,
        gate: str = "silu",
        qk_norm: bool = False,
    ) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head = heads, kv_heads, width // heads
        self.rope, self.gate = ROPE[rope], gate
        self.n1, self.n2 = RMSNorm(width, gain), RMSNorm(width, gain)
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, kv_heads * self.head, bias=False)
        self.v_proj = nn.Linear(width, kv_heads * self.head, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)
        self.q_norm = RMSNorm(self.head) if qk_norm else nn.Identity()
        self.k_norm = RMSNorm(self.head) if qk_norm else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        h = self.n1(x)
        q = self.q_norm(self.q_proj(h).view(b, t, self.heads, self.head)).transpose(1, 2)
        k = self.k_norm(self.k_proj(h).view(b, t, self.kv_heads, self.head)).transpose(1, 2)
        v = self.v_proj(h).view(b, t, self.kv_heads, self.head).transpose(1, 2)
        q, k = self.rope(q), self.rope(k)
        k, v = (u.repeat_interleave(self.heads // self.kv_heads, dim=1) for u in (k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head)
        mask = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        x = x + self.o_proj((weights @ v).transpose(1, 2).reshape(b, t, d))
        h = self.n2(x)
        gate = getattr(F, self.gate)(self.gate_proj(h))
        return x + self.down_proj(gate * self.up_proj(h))


class Llama(nn.Module):
    """Llama(256, 8, 4, 12, 704, 512) has about 9.6 million weights."""

    def __init__(
        self,
        width: int = 16,
        heads: int = 4,
        kv_heads: int = 2,
        layers: int = 2,
        hidden: int = 20,
        vocabulary: int = 11,
        context: int = 6,
        tied: bool = False,
        **block: object,
    ) -> None:
        super().__init__()
        self.vocabulary, self.context = vocabulary, context
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(
            LlamaBlock(width, heads, kv_heads, hidden, **block) for _ in range(layers)
        )
        self.norm = RMSNorm(width, bool(block.get("gain", True)))
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        if tied:
            self.lm_head.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))

    def example(self, batch: int = 2) -> Tensor:
        return torch.randint(self.vocabulary, (batch, self.context))


class Encoder(nn.Module):
    """nn.TransformerEncoder with a classifier on the mean of the tokens."""

    def __init__(
        self, width: int = 12, heads: int = 3, layers: int = 2, activation: str = "relu", **options
    ) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            width, heads, 20, dropout=0.0, activation=activation, batch_first=True, **options
        )
        self.width = width
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.fc = nn.Linear(width, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.encoder(x).mean(1))

    def example(self, batch: int = 2) -> Tensor:
        return torch.randn(batch, 5, self.width)


class LoRALinear(nn.Module):
    """base(x) + (alpha / r) B A x with a frozen base."""

    def __init__(self, base: nn.Linear, rank: int = 3, alpha: float = 6.0) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scaling = alpha / rank

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.scaling * F.linear(F.linear(x, self.lora_A), self.lora_B)


class PeftLinear(nn.Module):
    """The structure of peft's lora.Linear: adapters by name, dropout on the input of A."""

    def __init__(self, base: nn.Linear, ranks: dict[str, int], dropout: float = 0.1) -> None:
        super().__init__()
        self.base_layer = base.requires_grad_(False)
        self.lora_dropout = nn.ModuleDict({name: nn.Dropout(dropout) for name in ranks})
        self.lora_A = nn.ModuleDict(
            {name: nn.Linear(base.in_features, r, bias=False) for name, r in ranks.items()}
        )
        self.lora_B = nn.ModuleDict(
            {name: nn.Linear(r, base.out_features, bias=False) for name, r in ranks.items()}
        )
        self.scaling = {name: 2.0 / r for name, r in ranks.items()}
        self.active_adapters = list(ranks)

    def forward(self, x: Tensor) -> Tensor:
        result = self.base_layer(x)
        for name in self.active_adapters:
            y = self.lora_B[name](self.lora_A[name](self.lora_dropout[name](x)))
            result = result + y * self.scaling[name]
        return result


class PeftEmbedding(nn.Module):
    """The structure of peft's lora.Embedding: factors are kept transposed."""

    def __init__(self, base: nn.Embedding, rank: int) -> None:
        super().__init__()
        self.base_layer = base.requires_grad_(False)
        self.lora_embedding_A = nn.ParameterDict(
            {"default": nn.Parameter(torch.randn(rank, base.num_embeddings))}
        )
        self.lora_embedding_B = nn.ParameterDict(
            {"default": nn.Parameter(torch.randn(base.embedding_dim, rank))}
        )

    def forward(self, x: Tensor) -> Tensor:
        after = F.embedding(x, self.lora_embedding_A["default"].T)
        return self.base_layer(x) + after @ self.lora_embedding_B["default"].T


def add_lora(model: nn.Module, rank: int = 3, only: tuple[str, ...] = ()) -> nn.Module:
    """Freezes the model and replaces its Linear layers (whose names end with one of `only`)."""
    model.requires_grad_(False)
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear) and (not only or name.endswith(only)):
            parent = model.get_submodule(name.rpartition(".")[0])
            setattr(parent, name.rpartition(".")[2], LoRALinear(module, rank))
    return model


def resnet18(image: int = 32) -> ResNet:
    return ResNet(64, (2, 2, 2, 2), 1000, image)


def llama_10m() -> Llama:
    return Llama(256, 8, 4, 12, 704, 2048, 32)
