# SPDX-License-Identifier: MIT
"""Hugging Face's Trainer and Lightning take the steps of a plain loop, with round trips and with
callbacks that teleport, and the models of transformers and peft have the symmetries that they
should."""

from __future__ import annotations

import torch
from optional_packages import optional
from torch import nn
from torch.nn import functional as F

import symport.torch as st
from symport.torch import RoundTrip

STEPS = 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 3))

    def forward(self, x, labels):
        return {"loss": F.cross_entropy(self.layers(x), labels)}


def data() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(8, 6, generator=generator)
    return x, torch.randint(0, 3, (8,), generator=generator)


def sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), 0.1)


def round_trips(model: nn.Module) -> torch.optim.Optimizer:
    return RoundTrip(model, torch.optim.AdamW(model.parameters(), 0.01), power=0.5, refresh=2)


def plain_loop(model: nn.Module, optimizer, teleporter=None) -> list[torch.Tensor]:
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(*data())["loss"].backward()
        if teleporter is not None:
            teleporter.step()
        optimizer.step()
    return list(model.parameters())


def assert_same(found: nn.Module, model: nn.Module, optimizer, teleporter=None) -> None:
    for a, b in zip(found.parameters(), plain_loop(model, optimizer, teleporter), strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-6)


def unbalanced() -> Model:
    model = Model()
    with torch.no_grad():
        model.layers[0].weight.mul_(16)
        model.layers[0].bias.mul_(16)
        model.layers[2].weight.div_(16)
    return model


def symmetries_of(model: nn.Module) -> st.Symmetries:
    return st.find_symmetries(model, data())


def hugging_face(model: nn.Module, optimizer, folder, callbacks=(), resume=None) -> None:
    transformers = optional("transformers")
    x, labels = data()
    arguments = transformers.TrainingArguments(
        str(folder),
        max_steps=STEPS,
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        max_grad_norm=0,
        report_to=[],
        save_strategy="steps",
        save_steps=2,
        use_cpu=True,
        disable_tqdm=True,
    )
    constant = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)
    transformers.Trainer(
        model,
        arguments,
        train_dataset=[{"x": a, "labels": b} for a, b in zip(x, labels, strict=True)],
        optimizers=(optimizer, constant),
        callbacks=list(callbacks),
    ).train(resume_from_checkpoint=resume)


def lightning_fit(model: nn.Module, optimizer, folder, callbacks=()) -> None:
    lightning = optional("lightning")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = model

        def training_step(self, batch, _):
            return self.model(*batch)["loss"]

        def configure_optimizers(self):
            return optimizer

    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data()), batch_size=8)
    trainer = lightning.Trainer(
        max_epochs=STEPS,
        accelerator="cpu",
        callbacks=list(callbacks),
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
    )
    trainer.fit(Module(), loader)


def test_round_trips_in_hugging_face_trainer(tmp_path):
    optional("transformers")
    model = Model()
    hugging_face(model, round_trips(model), tmp_path)
    assert_same(model, (plain := Model()), round_trips(plain))
    resumed = Model()
    hugging_face(resumed, round_trips(resumed), tmp_path, resume=str(tmp_path / "checkpoint-2"))
    for a, b in zip(resumed.parameters(), model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_round_trips_in_lightning(tmp_path):
    optional("lightning")
    model = Model()
    lightning_fit(model, round_trips(model), tmp_path)
    assert_same(model, (plain := Model()), round_trips(plain))


def test_teleports_in_hugging_face_trainer(tmp_path):
    optional("transformers")
    from symport.torch.hugging_face import TeleportCallback

    model = unbalanced()
    callback = TeleportCallback(symmetries_of(model), {0, 2})
    hugging_face(model, sgd(model), tmp_path, [callback])
    plain = unbalanced()
    optimizer = sgd(plain)
    teleporter = st.Teleporter(symmetries_of(plain), optimizer, {0, 2})
    assert_same(model, plain, optimizer, teleporter)
    certificates = callback.teleporter.certificates
    assert [c.step for c in certificates] == [0, 2] and certificates[0].accepted
    assert (tmp_path / "checkpoint-4" / "teleporter.pt").exists()


def test_teleports_in_lightning(tmp_path):
    optional("lightning")
    from symport.torch.lightning import TeleportCallback

    model = unbalanced()
    callback = TeleportCallback(symmetries_of(model), {0, 2})
    lightning_fit(model, sgd(model), tmp_path, [callback])
    plain = unbalanced()
    optimizer = sgd(plain)
    teleporter = st.Teleporter(symmetries_of(plain), optimizer, {0, 2})
    assert_same(model, plain, optimizer, teleporter)
    certificates = callback.teleporter.certificates
    assert [c.step for c in certificates] == [0, 2] and certificates[0].accepted


def assert_groups(model: nn.Module, expected: dict[str, int]) -> None:
    """Dimensions by kind, and outputs that a random element of all groups does not change."""
    torch.manual_seed(1)
    inputs = {"input_ids": torch.randint(50, (2, 12))}
    model = model.double()
    symmetries = st.find_symmetries(model, inputs)
    found: dict[str, int] = {}
    for group in symmetries.groups:
        found[group.kind] = found.get(group.kind, 0) + group.dimension
    assert found == expected
    with torch.no_grad():
        for parameter in model.parameters():  # LoRA's B is zero at the start
            if parameter.requires_grad:
                parameter.add_(0.1 * torch.randn_like(parameter))
        before = model(**inputs).logits
        symmetries.act(symmetries.random_element(1, 0.3))
        after = model(**inputs).logits
    assert float((after - before).abs().max() / before.abs().max()) < 1e-10


def llama():
    transformers = optional("transformers")
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=50,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=32,
            tie_word_embeddings=False,
        )
    )


def test_llama_of_transformers():
    """By layer: RoPE pairs 2 x 4, gains 2 x 32, up and down 48; V and O GL(8) for two heads; and
    the last gains."""
    assert_groups(llama(), {"scale": 2 * (8 + 64 + 48) + 32, "gl": 2 * 2 * 64})


def test_gpt2_of_transformers():
    """Layers are transposed (Conv1D) and fused: Q and K, V and O are GL(8) in each of four heads;
    the head is tied to the embedding."""
    transformers = optional("transformers")
    config = transformers.GPT2Config(
        vocab_size=50,
        n_positions=32,
        n_embd=32,
        n_layer=2,
        n_head=4,
        attn_pdrop=0.0,
        embd_pdrop=0.0,
        resid_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = transformers.GPT2LMHeadModel(config)
    assert_groups(model, {"scale": 2 * 2 * 32, "gl": 2 * 2 * 4 * 64})


def test_symmetries_of_peft():
    peft = optional("peft")
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], lora_dropout=0.0)
    assert_groups(peft.get_peft_model(llama(), config), {"gl": 2 * 2 * 16})


def test_lora_of_peft():
    peft = optional("peft")
    model = peft.get_peft_model(Model(), peft.LoraConfig(r=2, target_modules=["0", "2"]))
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = RoundTrip(model, torch.optim.SGD(trainable, 0.3, momentum=0.9), length="metric")
    model(*data())["loss"].backward()
    optimizer.step()
    assert sorted(name.split(".lora_")[1] for name in optimizer.stepped) == [
        "A.default.weight",
        "A.default.weight",
        "B.default.weight",
        "B.default.weight",
    ]
