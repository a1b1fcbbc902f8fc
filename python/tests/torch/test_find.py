# SPDX-License-Identifier: MIT
"""find_symmetries: which groups it finds in which architecture, and what it refuses."""

from copy import deepcopy

import pytest
import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from models import (
    GPT,
    MLP,
    VGG,
    DenseNet,
    Encoder,
    Llama,
    PeftEmbedding,
    PeftLinear,
    ResNet,
    RMSNorm,
    add_lora,
)
from torch import nn

from symport.torch import Group, Symmetries, find_symmetries


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def find(model: nn.Module, **options) -> Symmetries:
    return find_symmetries(model, model.example(), **options)


def summary(symmetries: Symmetries) -> list[tuple[str, str, int]]:
    """(group, where, how many), in order."""
    rows: dict[tuple[str, str], int] = {}
    for group in symmetries.groups:
        key = (group.name, group.where)
        rows[key] = rows.get(key, 0) + 1
    return [(name, where, count) for (name, where), count in rows.items()]


def slots_of(symmetries: Symmetries, tensor: str, axis: int) -> list[Group]:
    return [
        group
        for group in symmetries.groups
        if any(slot.tensor == tensor and slot.axis == axis for slot in group.slots)
    ]


def test_mlp():
    symmetries = find(MLP(3, 4, 5, 2))
    assert summary(symmetries) == [("R+^4", "0 → 2", 1), ("R+^5", "2 → 4", 1)]
    slots = [(s.tensor, s.axis, s.start, s.stop, s.rho) for s in symmetries.groups[0].slots]
    assert slots == [
        ("0.weight", 0, 0, 4, 1),
        ("0.bias", 0, 0, 4, 1),
        ("2.weight", 1, 0, 4, -1),
    ]
    assert symmetries.groups[0].residual < 1e-14 and symmetries.drift < 1e-14


@pytest.mark.parametrize("activation", ["leaky_relu", "prelu"])
def test_homogeneous_activations(activation):
    symmetries = find(MLP(3, 4, 2, activation=activation))
    assert summary(symmetries) == [("R+^4", "0 → 2", 1)]


def test_squared_relu_has_charges_one_and_minus_two():
    symmetries = find(MLP(3, 4, 2, activation="squared_relu"))
    assert [slot.rho for slot in symmetries.groups[0].slots] == [1, 1, -2]


@pytest.mark.parametrize(
    "activation",
    ["relu6", "gelu", "silu", "tanh", "elu", "softplus", "hardswish", "hardtanh", "sigmoid"],
)
def test_other_activations_are_refused_with_a_reason(activation):
    symmetries = find(MLP(3, 4, 2, activation=activation))
    assert symmetries.groups == []
    assert [refusal.where for refusal in symmetries.refused] == ["0"]
    assert any(word in symmetries.refused[0].reason for word in ("homogeneous", "saturate"))


def test_linear_layers_without_activation_have_gl():
    symmetries = find(MLP(3, 4, 5, 2, activation="identity"))
    assert summary(symmetries) == [("GL(4)", "0 → 2", 1), ("GL(5)", "2 → 4", 1)]
    assert symmetries.dimension == 16 + 25


def test_dropout_keeps_scalings_and_forbids_mixing():
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 2))
    assert summary(find_symmetries(model, torch.randn(9, 3))) == [("R+^4", "0 → 2", 1)]
    assert summary(find_symmetries(model.eval(), torch.randn(9, 3))) == [("GL(4)", "0 → 2", 1)]


def test_convolution_pooling_and_flatten():
    symmetries = find(VGG(dropout=0.2))
    assert summary(symmetries) == [
        ("R+^6", "features: 0 → 3", 1),
        ("R+^12", "features.3 → classifier.0", 1),
        ("R+^10", "classifier: 0 → 3", 1),
    ]
    flatten = symmetries.groups[1].slots[-1]
    assert (flatten.tensor, flatten.stop, flatten.repeat) == ("classifier.0.weight", 48, 4)


def test_depthwise_and_transposed_convolutions():
    model = nn.Sequential(
        nn.Conv2d(2, 4, 1),
        nn.ReLU(),
        nn.Conv2d(4, 4, 3, groups=4),
        nn.ReLU(),
        nn.ConvTranspose2d(4, 3, 2),
    )
    symmetries = find_symmetries(model, torch.randn(2, 2, 5, 5))
    assert summary(symmetries) == [("R+^4", "0 → 2", 1), ("R+^4", "2 → 4", 1)]
    assert symmetries.groups[1].slots[-1].axis == 0  # ConvTranspose2d keeps its inputs on axis 0


def test_residual_streams_and_batch_norm_in_train_mode():
    symmetries = find(ResNet())
    assert summary(symmetries) == [
        (
            "R+^4",
            "bn1, layers.0.bn2, layers.1.bn2 → layers.0.conv1, layers.1.conv1, layers.2.conv1,"
            " layers.2.downsample.0",
            1,
        ),
        ("R+^4", "layers.0: bn1 → conv2", 1),
        ("R+^4", "layers.1: bn1 → conv2", 1),
        ("R+^8", "layers.2: bn1 → conv2", 1),
        ("R+^8", "layers.2.bn2, layers.2.downsample.1 → fc", 1),
    ]
    assert any("epsilon" in r.reason and r.where == "conv1" for r in symmetries.refused)


def test_batch_norm_in_eval_mode_moves_the_running_statistics():
    model = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3), nn.ReLU(), nn.Conv2d(3, 2, 1))
    model[1].running_var.uniform_(0.5, 2.0)
    model[1].running_mean.normal_()
    model.eval()
    symmetries = find_symmetries(model, torch.randn(2, 2, 4, 4))
    assert [g.name for g in symmetries.groups] == ["R+^3"] * 3
    statistics = [s for g in symmetries.groups for s in g.slots if "running" in s.tensor]
    assert {s.tensor for s in statistics} == {"1.running_mean", "1.running_var"}
    for group in symmetries.groups:
        moves_statistics = any("running" in slot.tensor for slot in group.slots)
        assert ("eval mode only" in group.note) == moves_statistics
    variance = next(s for s in statistics if s.tensor == "1.running_var")
    assert (variance.rho, variance.shift) == (2, model[1].eps)


def test_concatenation_and_group_norm():
    assert summary(find(DenseNet())) == [("R+^8", "norm → conv2", 1), ("R+^4", "conv2 → fc", 1)]


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


def test_a_frozen_layer_forbids_its_group():
    model = MLP(3, 4, 5, 2)
    model[2].weight.requires_grad_(False)
    symmetries = find(model)
    assert symmetries.groups == []
    assert any("frozen" in refusal.reason for refusal in symmetries.refused)


def test_tied_layers_act_once():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)
            self.b.weight, self.b.bias = self.a.weight, self.a.bias

        def forward(self, x):
            return self.c(F.relu(self.b(F.relu(self.a(x)))))

    symmetries = find_symmetries(Tied(), torch.randn(3, 4))
    # The second layer reads what the first one writes; only the last pair would be free, but its
    # producer is also the first layer.
    assert symmetries.groups == []


def test_a_shared_layer_scales_all_its_neighbours():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(3, 4), nn.Linear(3, 4), nn.Linear(4, 2)

        def forward(self, x):
            return self.c(F.relu(self.a(x))) + self.c(F.relu(self.b(x)))

    symmetries = find_symmetries(Shared(), torch.randn(3, 3))
    assert summary(symmetries) == [("R+^4", "a, b → c", 1)]


def test_weight_norm_is_scale_invariant():
    model = MLP(3, 4, 2)
    nn.utils.parametrizations.weight_norm(model[0])
    symmetries = find(model)
    assert [g.name for g in symmetries.groups] == ["R+^4", "R+^4"]
    tensors = {frozenset(g.tensors) for g in symmetries.groups}
    assert frozenset({"0.parametrizations.weight.original1"}) in tensors


def test_unknown_parametrizations_are_refused():
    model = MLP(3, 4, 2)

    class Exponential(nn.Module):
        def forward(self, x):
            return torch.exp(x)

    nn.utils.parametrize.register_parametrization(model[0], "weight", Exponential())
    symmetries = find(model)
    assert symmetries.groups == []
    assert any("exp" in refusal.reason for refusal in symmetries.refused)


class Sorted(nn.Module):
    """torch.sort has no rule; along the tokens it is homogeneous, along the channels it is not."""

    def __init__(self, axis: int) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x):
        return torch.sort(x, dim=self.axis).values


def test_scalings_through_unknown_operations_come_from_the_gradients():
    for axis, groups in ((1, ["R+^4"]), (2, [])):
        model = nn.Sequential(nn.Linear(3, 4), Sorted(axis), nn.Linear(4, 2))
        symmetries = find_symmetries(model, torch.randn(2, 5, 3))
        assert [g.name for g in symmetries.groups] == groups
        if groups:
            assert "no rule for sort" in symmetries.groups[0].note
            assert [slot.rho for slot in symmetries.groups[0].slots] == [1, 1, -1]
            assert symmetries.groups[0].residual < 1e-13


def test_unknown_operations_do_not_hide_a_veto():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU6(), Sorted(1), nn.Linear(4, 2))
    assert find_symmetries(model, torch.randn(2, 5, 3)).groups == []


def test_embeddings_into_a_linear_network():
    model = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 3))
    symmetries = find_symmetries(model, torch.randint(7, (2, 5)))
    assert summary(symmetries) == [("GL(4)", "0 → 1", 1)]


def test_casts_to_single_precision_inside_of_the_model():
    class Cast(RMSNorm):
        def forward(self, x):
            return super().forward(x.float()).to(x.dtype)

    model = nn.Sequential(Cast(4), nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2))
    symmetries = find_symmetries(model, torch.randn(3, 4))
    assert summary(symmetries) == [("R+^4", "0 → 1", 1), ("R+^5", "1 → 3", 1)]
    assert symmetries.drift < 1e-13


def test_a_loss_function_replaces_the_outputs():
    model = MLP(3, 4, 2)
    x, y = torch.randn(6, 3), torch.randint(2, (6,))
    for symmetries in (
        find_symmetries(model, (x, y), nn.CrossEntropyLoss()),
        find_symmetries(model, x, lambda output: F.cross_entropy(output, y)),
    ):
        assert summary(symmetries) == [("R+^4", "0 → 2", 1)]
    # A loss that does not see the scale of the outputs frees the last layer.
    invariant = find_symmetries(model, x, lambda output: (output / output.abs().sum()).std())
    assert invariant.dimension == 5


def test_dict_inputs_and_outputs():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = MLP(3, 4, 2)

        def forward(self, *, x):
            return {"logits": self.net(x), "length": 3}

    assert find_symmetries(Named(), {"x": torch.randn(2, 3)}).dimension == 4


def test_compiled_models_are_searched_inside():
    model = torch.compile(MLP(3, 4, 2), backend="eager")
    symmetries = find_symmetries(model, torch.randn(2, 3))
    assert symmetries.groups[0].tensors == ("0.weight", "0.bias", "2.weight")
    symmetries.act(symmetries.random_element(0, 0.1))


def test_compiled_parts_of_a_model():
    model = nn.Sequential(torch.compile(nn.Linear(3, 4)), nn.ReLU(), nn.Linear(4, 2))
    assert find_symmetries(model, torch.randn(2, 3)).dimension == 4


def test_activation_checkpoints():
    class Checkpointed(MLP):
        def forward(self, x):
            return torch.utils.checkpoint.checkpoint(super().forward, x, use_reentrant=False)

    assert find(Checkpointed(3, 4, 2)).dimension == 4


def test_embeddings_with_a_padding_index():
    model = nn.Sequential(nn.Embedding(7, 4, padding_idx=0), nn.Linear(4, 3))
    with torch.no_grad():
        model[0].weight[0] = 1.0
    symmetries = find_symmetries(model, torch.tensor([[0, 1, 2], [3, 0, 0]]))
    assert summary(symmetries) == [("GL(4)", "0 → 1", 1)]


def test_half_precision_keeps_powers_of_two_only():
    model = MLP(3, 4, 5, 2, activation="identity").to(torch.bfloat16)
    symmetries = find_symmetries(model, torch.randn(2, 3).to(torch.bfloat16))
    assert {g.kind for g in symmetries.groups} == {"scale"}
    assert all("powers of two only" in g.note for g in symmetries.groups)
    assert any(r.name == "GL(4)" and "half precision" in r.reason for r in symmetries.refused)


def test_the_search_touches_neither_weights_nor_random_numbers():
    model = ResNet()
    model.fc.weight.grad = torch.ones_like(model.fc.weight)
    before = deepcopy(model.state_dict())
    versions = [p._version for p in model.parameters()]
    random, x = torch.get_rng_state(), model.example()
    random = torch.get_rng_state()
    image = x.clone()
    find_symmetries(model, x)
    assert torch.equal(torch.get_rng_state(), random)
    assert versions == [p._version for p in model.parameters()]
    assert all(torch.equal(t, before[n]) for n, t in model.state_dict().items())
    assert torch.equal(model.fc.weight.grad, torch.ones_like(model.fc.weight))
    assert model.conv1.weight.grad is None and torch.equal(x, image)
    assert torch.get_default_dtype() == torch.float32


def test_the_printed_table():
    model = MLP(3, 4, 5, 2)
    model.append(nn.GELU())
    model.append(nn.Linear(2, 2))
    optimizer = torch.optim.AdamW(model.parameters())
    lines = str(find(model, optimizer=optimizer)).splitlines()
    assert lines[0].split() == ["group", "where", "dim", "feels", "(AdamW)", "proof", "note"]
    assert lines[1].startswith("R+^4   0 → 2  4    yes")
    assert "bit-exact with powers of two" in lines[1]
    assert lines[-1].startswith("none") and "gelu is not homogeneous" in lines[-1]
