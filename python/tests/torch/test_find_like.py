# SPDX-License-Identifier: MIT
"""Symmetries of a small configuration carried over to a large model of the same code."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from by_hand import same_bits
from models import GPT, MLP, VGG, Encoder, GPTBlock, Llama, ResNet
from torch import nn

from symport.torch import Group, Symmetries, find_symmetries, teleport

PAIRS = {
    "MLP": (MLP(5, 8, 6, 3), MLP(7, 20, 16, 3)),
    "linear": (MLP(5, 4, 3, activation="identity"), MLP(7, 6, 9, activation="identity")),
    "VGG": (VGG(), VGG(9)),
    "ResNet": (ResNet().eval(), ResNet(8).eval()),
    "GPT, more heads and layers": (GPT(), GPT(24, 4, 5, 23, 9)),
    "GPT, tied": (GPT(tied=True), GPT(24, 2, 3, 23, 9, tied=True)),
    "Llama": (Llama(), Llama(32, 8, 4, 4, 24, 13, 7)),
    "Llama, interleaved": (
        Llama(rope="interleaved"),
        Llama(48, 8, 4, 3, 24, 13, 7, rope="interleaved"),
    ),
    "Llama, rotations": (Llama(gain=False), Llama(32, 8, 4, 3, 24, 13, 7, gain=False)),
    "norm first": (Encoder(norm_first=True), Encoder(24, 4, 4, norm_first=True)),
    "norm last": (Encoder(), Encoder(24, 4, 2)),
}


def found(model: nn.Module) -> Symmetries:
    return find_symmetries(model, model.example())


def carried(small: nn.Module, large: nn.Module) -> Symmetries:
    return find_symmetries(large, large.example(), like=found(small))


def places(symmetries: Symmetries) -> set[tuple]:
    return {
        (g.kind, g.size, g.mode, frozenset((*s.to_json().values(),) for s in g.slots))
        for g in symmetries.groups
    }


@pytest.mark.parametrize("name", PAIRS)
def test_they_are_what_a_search_of_the_large_model_finds(name: str) -> None:
    torch.manual_seed(0)
    small, large = PAIRS[name]
    before = [t.clone() for t in large.state_dict().values()]
    symmetries = carried(small, large)
    assert same_bits(before, list(large.state_dict().values()))
    assert places(symmetries) == places(found(large))
    assert symmetries.drift <= 1e-10
    assert all("proved on a smaller model" in g.note for g in symmetries.groups)


def test_certificates_say_where_the_proof_was_made() -> None:
    torch.manual_seed(0)
    small, large = MLP(5, 8, 3), MLP(5, 30, 3)
    symmetries = carried(small, large)
    x, y = large.example(), torch.randn(4, 3)
    certificate = teleport(large, lambda: F.mse_loss(large(x), y), symmetries=symmetries)
    assert certificate.accepted
    assert "all data (proved on a model of the same code with 75 parameters" in certificate.scope
    assert "random elements changed the outputs by" in certificate.scope


# --- what is not of the same code -----------------------------------------------------------------


class Bent(GPTBlock):
    """One more nonlinearity, between the values and their projection."""

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.c_attn(self.ln_1(x)).split(d, dim=2)
        q, k, v = (u.view(b, t, self.heads, d // self.heads).transpose(1, 2) for u in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, torch.tanh(v), is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(b, t, d))
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x))))


class Skipping(GPTBlock):
    """One more skip, around the projection of the values."""

    def forward(self, x):
        return super().forward(x) + self.c_attn(x)[..., : x.shape[-1]]


def with_block(block: GPTBlock, number: int, name: str = "GPTBlock") -> GPT:
    model = GPT(24, 4, 4, 23, 9)
    block.__class__ = type(name, (type(block),), {})  # not to be told by its name
    model.blocks[number] = block
    return model


@pytest.mark.parametrize(
    ("block", "what"), [(Bent, "blocks.2 runs tanh"), (Skipping, r"blocks.2 runs add")]
)
def test_one_layer_with_another_function_is_refused_by_name(block, what: str) -> None:
    torch.manual_seed(0)
    with pytest.raises(ValueError, match=what):
        carried(GPT(), with_block(block(24, 4), 2))


@pytest.mark.parametrize("block", [Bent, Skipping])
def test_random_elements_refuse_them_without_a_look_at_the_operations(block, monkeypatch) -> None:
    monkeypatch.setattr("symport.torch.find.computations", lambda _: {"": ("hidden",)})
    torch.manual_seed(0)
    with pytest.raises(ValueError, match=r"of blocks.2: .* is a symmetry .* none of this one"):
        carried(GPT(), with_block(block(24, 4), 2))


@pytest.mark.parametrize(
    ("large", "what"),
    [
        (lambda: MLP(5, 8, 6, 3, activation="gelu"), r"1 is GELU\(.*\), and in the small .* ReLU"),
        (lambda: MLP(5, 8, 6, 3, bias=False), "0 is Linear.*and in the small model .*bias=8"),
        (lambda: nn.Sequential(*MLP(5, 8, 6, 3), nn.ReLU()), "5, ReLU.*, is missing in the small"),
        (lambda: MLP(5, 8, 3), "3, ReLU.*, is missing in the large"),
    ],
)
def test_other_modules_are_refused_by_name(large, what: str) -> None:
    model = large()
    with pytest.raises(ValueError, match=what):
        find_symmetries(model, torch.randn(4, 5), like=found(MLP(5, 8, 6, 3)))


def test_another_number_of_tied_tensors_is_refused() -> None:
    with pytest.raises(ValueError, match="head is Linear.* tied to wte.weight"):
        carried(GPT(), GPT(24, 4, 2, 23, 9, tied=True))


def test_widths_that_do_not_scale_alike_are_refused() -> None:
    """Two query heads for each key head, and four."""
    with pytest.raises(ValueError, match="do not scale alike|not divided as"):
        carried(Llama(), Llama(32, 8, 2, 2, 24, 13, 7))


def test_one_layer_does_not_show_what_repeats() -> None:
    with pytest.raises(ValueError, match="blocks has 4 layers, and the small model has one"):
        carried(GPT(layers=1), GPT(24, 4, 4, 23, 9))


def test_layers_that_hang_together_are_refused() -> None:
    """With the norm last a layer's gain goes into the next layer."""
    with pytest.raises(ValueError, match="layers 0 and 1 of encoder.layers have different groups"):
        carried(Encoder(), Encoder(24, 4, 4))


def test_a_group_that_fails_on_the_large_model_is_refused_by_name() -> None:
    """A false one is planted among those that were proved."""
    torch.manual_seed(0)
    small, large = MLP(5, 8, 6, 3), MLP(7, 20, 16, 3)
    like = found(small)
    _, false = like.groups
    like.groups[1] = replace(false, slots=false.slots[::2])  # without the bias
    with pytest.raises(ValueError, match=r"R\+\^16 of 2 → 4 is .* none of this one: .* by \d"):
        find_symmetries(large, large.example(), like=like)
    like.groups[1] = false
    assert len(find_symmetries(large, large.example(), like=like).groups) == 2


def test_the_mode_must_be_that_of_the_proof() -> None:
    with pytest.raises(ValueError, match="is in train mode"):
        carried(ResNet().eval(), ResNet(8).train())


def test_frozen_and_half_precision_parameters_stay() -> None:
    torch.manual_seed(0)
    large = MLP(7, 20, 16, 3)
    large[0].weight.requires_grad_(False)
    symmetries = carried(MLP(5, 8, 6, 3), large)
    assert [g.where for g in symmetries.groups] == ["2 → 4"]
    assert "0.weight is frozen" in symmetries.refused[0].reason
    half = MLP(7, 6, 9, activation="identity").bfloat16()
    example = torch.randn(4, 7, dtype=torch.bfloat16)
    small = found(MLP(5, 4, 3, activation="identity"))
    symmetries = find_symmetries(half, example, like=small)
    assert symmetries.groups == [] and "half precision" in symmetries.refused[0].reason


def test_what_was_not_searched_cannot_be_carried() -> None:
    small, large = MLP(5, 8, 3), MLP(5, 30, 3)
    by_hand = Symmetries(small, [Group(g.kind, g.size, g.slots) for g in found(small).groups])
    once = carried(small, large)
    for like in (by_hand, once):
        with pytest.raises(ValueError, match="^like: expected what find_symmetries found"):
            find_symmetries(large, large.example(), like=like)
    changed = found(small)
    small[1] = nn.GELU()
    with pytest.raises(ValueError, match="the model is not the one"):
        find_symmetries(large, large.example(), like=changed)
