# SPDX-License-Identifier: MIT
"""find_symmetries in transformers, recurrent layers and LoRA."""

import pytest
import torch
import torch.nn.functional as F
from finding import find, slots_of, summary
from models import GPT, Encoder, Llama, PeftEmbedding, PeftLinear, add_lora
from torch import nn

from symport.torch import find_symmetries


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def test_gpt_with_fused_projections():
    symmetries = find(GPT(layers=1))
    assert summary(symmetries) == [
        ("R+^12", "blocks.0: ln_1 → c_attn", 1),
        ("GL(4)", "blocks.0: c_attn → c_attn", 3),
        ("GL(4)", "blocks.0: c_attn → c_proj", 3),
        ("R+^12", "blocks.0: ln_2 → c_fc", 1),
        ("R+^12", "ln_f → head", 1),
    ]
    assert any("gelu" in refusal.reason for refusal in symmetries.refused)


def test_weights_with_their_outputs_on_the_last_axis():
    """As the Conv1D layers of GPT-2 in transformers: y = x W + b with W of shape (in, out)."""

    class Transposed(nn.Module):
        def __init__(self, activation):
            super().__init__()
            self.w1, self.b1 = nn.Parameter(torch.randn(3, 4)), nn.Parameter(torch.randn(4))
            self.w2 = nn.Parameter(torch.randn(4, 2))
            self.activation = activation

        def forward(self, x):
            return self.activation(torch.addmm(self.b1, x, self.w1)) @ self.w2

    (group,) = find_symmetries(Transposed(F.relu), torch.randn(5, 3)).groups
    assert [(s.tensor, s.axis, s.rho) for s in group.slots] == [
        ("w1", 1, 1),
        ("b1", 0, 1),
        ("w2", 0, -1),
    ]
    refused = find_symmetries(Transposed(F.gelu), torch.randn(5, 3)).refused
    assert any("gelu" in refusal.reason for refusal in refused)


def test_recurrent_layers_have_no_scalings():
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.fc = nn.LSTM(3, 4, batch_first=True), nn.Linear(4, 2)

        def forward(self, x):
            return self.fc(self.lstm(x)[0])

    assert find_symmetries(Recurrent(), torch.randn(2, 5, 3)).groups == []


def test_a_tied_head_cannot_take_the_gains_of_the_last_norm():
    symmetries = find(GPT(layers=1, tied=True))
    assert not any("ln_f.weight" in group.tensors for group in symmetries.groups)
    assert not any("wte.weight" in group.tensors for group in symmetries.groups)
    assert len(symmetries.groups) == len(find(GPT(layers=1)).groups) - 1


@pytest.mark.parametrize("rope", ["half", "interleaved"])
def test_llama_with_rotary_embedding_and_grouped_queries(rope):
    symmetries = find(Llama(layers=1, rope=rope))
    assert summary(symmetries) == [
        ("R+^16", "layers.0: n1 → q_proj, k_proj, v_proj", 1),
        ("R+^16", "layers.0: n2 → gate_proj, up_proj", 1),
        ("R+^2", "layers.0: q_proj → k_proj", 2),
        ("GL(4)", "layers.0: v_proj → o_proj", 2),
        ("R+^20", "layers.0: up_proj → down_proj", 1),
        ("R+^16", "norm → lm_head", 1),
    ]
    assert slots_of(symmetries, "layers.0.gate_proj.weight", 0) == []
    assert all(g.kind == "scale" for g in slots_of(symmetries, "layers.0.k_proj.weight", 0))
    assert any(r.name == "O(16)" and "gains" in r.reason for r in symmetries.refused)


def test_llama_without_rotary_embedding_has_gl_on_queries_and_keys():
    symmetries = find(Llama(layers=1, rope="none", kv_heads=4))
    assert ("GL(4)", "layers.0: q_proj → k_proj", 4) in summary(symmetries)


def test_norms_of_queries_and_keys_leave_their_gains():
    symmetries = find(Llama(layers=1, qk_norm=True))
    assert slots_of(symmetries, "layers.0.q_proj.weight", 0) == []
    (group,) = slots_of(symmetries, "layers.0.q_norm.weight", 0)
    assert (group.kind, group.size) == ("scale", 2)
    assert set(group.tensors) == {"layers.0.q_norm.weight", "layers.0.k_norm.weight"}


@pytest.mark.parametrize("gate", ["relu", "silu", "gelu"])
def test_gates(gate):
    symmetries = find(Llama(layers=1, gate=gate))
    assert len(slots_of(symmetries, "layers.0.up_proj.weight", 0)) == 1
    assert len(slots_of(symmetries, "layers.0.gate_proj.weight", 0)) == (gate == "relu")


@pytest.mark.parametrize("tied", [False, True])
def test_the_stream_rotates_if_norms_have_no_gains(tied):
    symmetries = find(Llama(layers=2, gain=False, tied=tied))
    (group,) = [g for g in symmetries.groups if g.kind == "orthogonal"]
    assert group.size == 16 and group.dimension == 120
    assert "embed.weight" in group.tensors
    assert ("lm_head.weight" in group.tensors) == (not tied)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("norm_first", [True, False])
def test_transformer_encoder_layers(training, norm_first):
    symmetries = find(Encoder(layers=1, norm_first=norm_first).train(training))
    names = [name for name, _, count in summary(symmetries) for _ in range(count)]
    assert names.count("GL(4)") == 6
    assert names.count("R+^20") == 1
    assert any("linear1" in where for _, where, _ in summary(symmetries))


def test_multihead_attention_with_separate_projections():
    class Cross(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(8, 2, kdim=5, vdim=6, batch_first=True)

        def forward(self, x, y, z):
            return self.attention(x, y, z)[0]

    inputs = (torch.randn(2, 3, 8), torch.randn(2, 4, 5), torch.randn(2, 4, 6))
    symmetries = find_symmetries(Cross(), inputs)
    assert [g.name for g in symmetries.groups] == ["GL(4)"] * 4


def test_lora_pairs_on_a_frozen_model():
    model = add_lora(GPT(layers=1), rank=3)
    symmetries = find(model)
    assert [g.name for g in symmetries.groups] == ["GL(3)"] * 5
    assert all(
        {t.rpartition(".")[2] for t in g.tensors} == {"lora_A", "lora_B"} for g in symmetries.groups
    )
    assert any("frozen" in refusal.reason for refusal in symmetries.refused)


def test_lora_in_the_structure_of_peft():
    model = nn.Sequential(
        PeftEmbedding(nn.Embedding(7, 6), 2),
        PeftLinear(nn.Linear(6, 5), {"default": 3, "other": 2}),
    )
    model[1].active_adapters = ["default"]
    symmetries = find_symmetries(model, torch.randint(7, (2, 4)))
    assert [g.name for g in symmetries.groups] == ["GL(2)", "GL(3)"]
    assert symmetries.groups[0].tensors == (
        "0.lora_embedding_A.default",
        "0.lora_embedding_B.default",
    )
    assert symmetries.groups[1].tensors == (
        "1.lora_A.default.weight",
        "1.lora_B.default.weight",
    )
    assert any("do not reach the output" in refusal.reason for refusal in symmetries.refused)
